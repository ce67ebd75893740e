-- Deleted devices: a password that ends at that moment or sooner lets nobody in. Redis has a copy for the nodes; told: the Redis that
-- was told last, null for none.
CREATE TABLE denied_devices (
  app_id    VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  device_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  ends      DATETIME NOT NULL,
  told      VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NULL,
  PRIMARY KEY (app_id, device_id),
  KEY denied_devices_by_end (ends),
  KEY denied_devices_by_told (told)
) CHARACTER SET utf8mb4;
