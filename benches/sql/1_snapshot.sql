-- The tables of the benchmark and what fills them. The program calls the procedures with the numbers of rows that
-- `--scale` asks for. The data depend on the row's number only, so every load gives the same tables.
SET SESSION sql_log_bin=0;
SET SESSION time_zone='+00:00';
CREATE DATABASE IF NOT EXISTS snap CHARACTER SET utf8mb4;
CREATE DATABASE IF NOT EXISTS bl CHARACTER SET utf8mb4;
USE snap;
DROP TABLE IF EXISTS sbtest1, wide;
CREATE TABLE sbtest1(
  id BIGINT NOT NULL PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT NULL, pad CHAR(60) NOT NULL) ENGINE=InnoDB;
CREATE TABLE wide(
  id BIGINT NOT NULL PRIMARY KEY, c_tiny TINYINT, c_small SMALLINT, c_medium MEDIUMINT, c_uint INT UNSIGNED,
  c_ubig BIGINT UNSIGNED, c_float FLOAT, c_double DOUBLE, c_dec DECIMAL(20,4), c_dec2 DECIMAL(38,10), c_bit BIT(8),
  c_bool TINYINT(1), c_date DATE, c_time TIME(3), c_dt DATETIME(6), c_ts TIMESTAMP(3) NULL, c_year YEAR,
  c_vc VARCHAR(64), c_vc2 VARCHAR(255), c_char CHAR(32), c_enum ENUM('red','green','blue','yellow'),
  c_set SET('a','b','c','d'), c_json JSON, c_text TEXT, c_vb VARBINARY(64)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
DELIMITER //
DROP PROCEDURE IF EXISTS fill_sb//
CREATE PROCEDURE fill_sb(IN tbl VARCHAR(64), IN total INT)
BEGIN
  DECLARE i INT DEFAULT 0;
  SET SESSION cte_max_recursion_depth=1000000;
  WHILE i < total DO
    SET @q=CONCAT('INSERT INTO ',tbl,' WITH RECURSIVE s(n) AS (SELECT ',i,'+1 UNION ALL SELECT n+1 FROM s WHERE n < LEAST(',total,',',i,'+100000)) SELECT n, CRC32(n)%2000000000, CONCAT(SHA2(n,256),LEFT(SHA2(n+7,256),55)), LEFT(SHA2(n+13,256),59) FROM s');
    PREPARE st FROM @q; EXECUTE st; DEALLOCATE PREPARE st; COMMIT;
    SET i=i+100000;
  END WHILE;
END//
DROP PROCEDURE IF EXISTS fill_wide//
CREATE PROCEDURE fill_wide(IN tbl VARCHAR(64), IN total INT)
BEGIN
  DECLARE i INT DEFAULT 0;
  SET SESSION cte_max_recursion_depth=1000000;
  WHILE i < total DO
    SET @q=CONCAT('INSERT INTO ',tbl,' WITH RECURSIVE s(n) AS (SELECT ',i,'+1 UNION ALL SELECT n+1 FROM s WHERE n < LEAST(',total,',',i,'+20000)) SELECT n, n%127, n%32000, (n*7)%8000000, CRC32(n), CRC32(n)*4294967296+CRC32(n+1), n/7.0, n*1.2345678901, n*13.1234, n*1000003.0123456789, n%256, n%2, ''2020-01-01'' + INTERVAL (n%2000) DAY, SEC_TO_TIME(n%86400 + (n%1000)/1000), ''2021-03-04 05:06:07.123456'' + INTERVAL n SECOND, ''2022-03-04 05:06:07.123'' + INTERVAL n SECOND, 1970+n%130, CONCAT(''name-'',LEFT(SHA2(n,256),40)), CONCAT(''héllo wörld 你好世界 😀 '',SHA2(n,384)), LEFT(SHA2(n,256),32), 1+n%4, n%16, JSON_OBJECT(''id'',n,''tags'',JSON_ARRAY(''x'',n%10,TRUE,NULL),''name'',CONCAT(''u'',n),''score'',n/3.0,''nested'',JSON_OBJECT(''a'',n%7,''b'',LEFT(SHA2(n,256),32))), IF(n%10=0,NULL,CONCAT(REPEAT(CONCAT(LEFT(SHA2(n,256),32),'' ''),10),n)), UNHEX(SHA2(n,256)) FROM s');
    PREPARE st FROM @q; EXECUTE st; DEALLOCATE PREPARE st; COMMIT;
    SET i=i+20000;
  END WHILE;
END//
DELIMITER ;
