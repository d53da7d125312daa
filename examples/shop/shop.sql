-- A small shop. Run again, it starts from the beginning.
SET NAMES utf8mb4;
SET GLOBAL time_zone = '+00:00';
DROP DATABASE IF EXISTS shop;
CREATE DATABASE shop CHARACTER SET utf8mb4;
USE shop;

-- What rowferry needs: to read the tables and the binary log.
CREATE USER IF NOT EXISTS 'ferry'@'%' IDENTIFIED BY 'ferry';
GRANT SELECT, SHOW DATABASES, REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO 'ferry'@'%';

CREATE TABLE customers (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  email VARCHAR(255) NOT NULL UNIQUE,
  name VARCHAR(100) NOT NULL,
  country CHAR(2) NOT NULL,
  birthday DATE NULL,
  newsletter TINYINT(1) NOT NULL DEFAULT 0,
  created_at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)
);
CREATE TABLE products (
  id INT UNSIGNED NOT NULL PRIMARY KEY,
  name VARCHAR(200) NOT NULL,
  price DECIMAL(10,2) NOT NULL,
  weight_kg DOUBLE NULL,
  attributes JSON NULL,
  size ENUM('S','M','L') NULL
);
CREATE TABLE orders (
  id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  customer_id BIGINT UNSIGNED NOT NULL,
  status VARCHAR(20) NOT NULL DEFAULT 'new',
  placed_at DATETIME(6) NOT NULL,
  total DECIMAL(12,2) NOT NULL DEFAULT 0,
  note TEXT NULL
);
CREATE TABLE order_lines (
  order_id BIGINT NOT NULL,
  line_no SMALLINT NOT NULL,
  product_id INT UNSIGNED NOT NULL,
  quantity INT NOT NULL,
  price DECIMAL(10,2) NOT NULL,
  PRIMARY KEY (order_id, line_no)
);
CREATE TABLE stock (
  product_id INT UNSIGNED NOT NULL PRIMARY KEY,
  pieces INT NOT NULL,
  counted_at TIME(3) NULL
);

INSERT INTO customers (id, email, name, country, birthday, newsletter, created_at) VALUES
  (1, 'ada@example.com', 'Ada Lovelace', 'GB', '1815-12-10', 1, '2026-01-05 09:30:00.123456'),
  (2, 'zoe@example.com', 'Zoë Müller', 'DE', NULL, 0, '2026-02-11 18:00:00.000001'),
  (3, 'li@example.com', '李小龙', 'CN', '1940-11-27', 1, '2026-03-01 00:00:00'),
  (18446744073709551000, 'max@example.com', 'Max Big 🚀', 'US', '1999-12-31', 0, '2026-03-02 12:00:00.5');
INSERT INTO products VALUES
  (1, 'Teapot 🫖', 24.90, 0.75, '{"color": "blue", "tags": ["kitchen", "gift"]}', NULL),
  (2, 'T-shirt', 15.00, 0.2, '{"color": "white", "organic": true}', 'M'),
  (3, 'Anvil', 1999.99, 100, NULL, NULL);
INSERT INTO stock VALUES (1, 120, '08:15:00.250'), (2, 800, '08:20:00'), (3, 2, NULL);
INSERT INTO orders (id, customer_id, status, placed_at, total, note) VALUES
  (1, 1, 'paid', '2026-11-01 10:00:00.000001', 64.80, 'gift wrap, please 🎁'),
  (2, 2, 'new', '2026-11-02 11:22:33.444555', 15.00, NULL);
INSERT INTO order_lines VALUES (1, 1, 1, 2, 24.90), (1, 2, 2, 1, 15.00), (2, 1, 2, 1, 15.00);

-- A few thousand older orders, so that there is something to carry.
INSERT INTO orders (customer_id, status, placed_at, total)
  SELECT 1 + n % 3, 'shipped', '2025-01-01' + INTERVAL n MINUTE, 15.00 * (1 + n % 4)
  FROM (SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS n
        FROM (SELECT 0 d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4
              UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9) a,
             (SELECT 0 d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4
              UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9) b,
             (SELECT 0 d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4
              UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9) c,
             (SELECT 0 d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4) e) numbers;
INSERT INTO order_lines SELECT id, 1, 2, total DIV 15, 15.00 FROM orders WHERE status = 'shipped';
