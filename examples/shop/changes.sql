-- One round of business as usual; the quick start runs it again and again while rowferry works.
SET NAMES utf8mb4;
USE shop;
START TRANSACTION;
INSERT INTO orders (customer_id, placed_at, total) VALUES (3, NOW(6), 49.90);
INSERT INTO order_lines VALUES (LAST_INSERT_ID(), 1, 1, 1, 24.90), (LAST_INSERT_ID(), 2, 2, 1, 25.00);
UPDATE stock SET pieces = pieces - 1, counted_at = CURRENT_TIME(3) WHERE product_id IN (1, 2);
COMMIT;
UPDATE orders SET note = CONCAT(status, ' → paid ✓'), status = 'paid' WHERE status = 'new' ORDER BY id LIMIT 1;
-- A new customer goes through all of it: insert, update, and every other time delete.
INSERT INTO customers (id, email, name, country)
  SELECT 1000 + MAX(id), CONCAT('new', MAX(id), '@example.com'), 'New 🙂', 'FR' FROM orders;
UPDATE customers SET newsletter = 1 WHERE id >= 1000 AND newsletter = 0 AND id < 2000000;
DELETE FROM customers WHERE id BETWEEN 1000 AND 2000000 AND id % 2 = 1;
DELETE FROM order_lines WHERE order_id = (SELECT MIN(id) FROM orders WHERE status = 'shipped');
DELETE FROM orders WHERE status = 'shipped' ORDER BY id LIMIT 1;
UPDATE products SET attributes = JSON_SET(attributes, '$.sold', CAST(COALESCE(attributes->'$.sold', 0) AS SIGNED) + 1) WHERE id = 1;
