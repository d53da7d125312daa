-- What writes the benchmark's binlog, in three phases. The program resets the log first, calls each procedure once and
-- writes a row into bl.marker before and after each. `base` is the number of rows that bl.sbtest1 began with; all key
-- ranges are parts of it, so a smaller scale touches the same share of the table.
SET SESSION sql_log_bin=0;
USE bl;
DROP TABLE IF EXISTS sbtest1, wide, marker, lat, big;
CREATE TABLE sbtest1 LIKE snap.sbtest1;
CREATE TABLE wide LIKE snap.wide;
CREATE TABLE big LIKE snap.sbtest1;
CREATE TABLE marker(id BIGINT NOT NULL PRIMARY KEY AUTO_INCREMENT, name VARCHAR(32));
CREATE TABLE lat(id BIGINT NOT NULL PRIMARY KEY AUTO_INCREMENT, ts_us BIGINT NOT NULL, v VARCHAR(100));
DELIMITER //
DROP PROCEDURE IF EXISTS bl_main//
CREATE PROCEDURE bl_main(IN ntx INT, IN base BIGINT)
BEGIN
  -- Each transaction: 50 inserts, 40 updates, 10 deletes; even ones in three statements, odd ones in a hundred.
  DECLARE t INT DEFAULT 0; DECLARE j INT; DECLARE nid BIGINT DEFAULT 10000000; DECLARE u BIGINT; DECLARE d BIGINT DEFAULT 1;
  SET SESSION cte_max_recursion_depth=1000;
  WHILE t < ntx DO
    START TRANSACTION;
    SET u = base*2 DIV 5 + (t*7919) % (base DIV 2);
    IF t % 2 = 0 THEN
      INSERT INTO sbtest1 WITH RECURSIVE s(n) AS (SELECT nid UNION ALL SELECT n+1 FROM s WHERE n < nid+49) SELECT n, CRC32(n)%2000000000, CONCAT(SHA2(n,256),LEFT(SHA2(n+7,256),55)), LEFT(SHA2(n+13,256),59) FROM s;
      UPDATE sbtest1 SET k=k+1, c=CONCAT(SHA2(k,256),LEFT(c,55)) WHERE id BETWEEN u AND u+39;
      DELETE FROM sbtest1 WHERE id BETWEEN d AND d+9;
    ELSE
      SET j=0;
      WHILE j<50 DO INSERT INTO sbtest1 VALUES(nid+j, CRC32(nid+j)%2000000000, CONCAT(SHA2(nid+j,256),LEFT(SHA2(nid+j+7,256),55)), LEFT(SHA2(nid+j+13,256),59)); SET j=j+1; END WHILE;
      SET j=0;
      WHILE j<40 DO UPDATE sbtest1 SET k=k+1, c=CONCAT(SHA2(k,256),LEFT(c,55)) WHERE id=u+j; SET j=j+1; END WHILE;
      SET j=0;
      WHILE j<10 DO DELETE FROM sbtest1 WHERE id=d+j; SET j=j+1; END WHILE;
    END IF;
    COMMIT;
    SET nid=nid+50; SET d=d+10; SET t=t+1;
  END WHILE;
END//
DROP PROCEDURE IF EXISTS bl_burst//
CREATE PROCEDURE bl_burst(IN n INT, IN base BIGINT)
BEGIN
  -- One row a transaction: half inserts, four in ten updates, one in ten deletes.
  DECLARE t INT DEFAULT 0; DECLARE nid BIGINT DEFAULT 20000000; DECLARE u BIGINT;
  WHILE t < n DO
    SET u = base*23 DIV 25 + t % (base DIV 25);
    CASE t % 10
      WHEN 9 THEN DELETE FROM sbtest1 WHERE id=nid+t-9;
      WHEN 1 THEN UPDATE sbtest1 SET k=k+1, pad=LEFT(SHA2(k,256),59) WHERE id=u;
      WHEN 3 THEN UPDATE sbtest1 SET k=k+1, pad=LEFT(SHA2(k,256),59) WHERE id=u;
      WHEN 5 THEN UPDATE sbtest1 SET k=k+1, pad=LEFT(SHA2(k,256),59) WHERE id=u;
      WHEN 7 THEN UPDATE sbtest1 SET k=k+1, pad=LEFT(SHA2(k,256),59) WHERE id=u;
      ELSE INSERT INTO sbtest1 VALUES(nid+t, CRC32(nid+t)%2000000000, CONCAT(SHA2(nid+t,256),LEFT(SHA2(nid+t+7,256),55)), LEFT(SHA2(nid+t+13,256),59));
    END CASE;
    SET t=t+1;
  END WHILE;
END//
DROP PROCEDURE IF EXISTS bl_wide//
CREATE PROCEDURE bl_wide(IN ntx INT, IN base BIGINT)
BEGIN
  -- Each transaction: 50 inserts, 40 updates, 10 deletes of the 25-column table.
  DECLARE t INT DEFAULT 0; DECLARE u BIGINT;
  WHILE t < ntx DO
    START TRANSACTION;
    SET u = base*2 DIV 5 + 1 + (t % (ntx DIV 2))*40;
    INSERT INTO wide SELECT id+1000000, c_tiny,c_small,c_medium,c_uint,c_ubig,c_float,c_double,c_dec,c_dec2,c_bit,c_bool,c_date,c_time,c_dt,c_ts,c_year,c_vc,c_vc2,c_char,c_enum,c_set,c_json,c_text,c_vb FROM snap.wide WHERE id BETWEEN base+1+t*50 AND base+50+t*50;
    UPDATE wide SET c_uint=c_uint DIV 2, c_dt=c_dt + INTERVAL 1 DAY, c_json=JSON_SET(c_json,'$.score',c_uint) WHERE id BETWEEN u AND u+39;
    DELETE FROM wide WHERE id BETWEEN 1+t*10 AND 10+t*10;
    COMMIT;
    SET t=t+1;
  END WHILE;
END//
DELIMITER ;
