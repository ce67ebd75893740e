-- What many devices of an app wait for: the payload once, whom it waits for in lists, and how far each device has come.
-- slot as in `inbox`. A row is there as long as one of its lists is.
CREATE TABLE broadcasts (
  app_id       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  message_id   CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  slot         VARCHAR(64) COLLATE utf8mb4_bin NOT NULL,
  payload      TEXT NOT NULL,
  cancelled_at DATETIME(3) NULL,
  PRIMARY KEY (app_id, message_id),
  KEY broadcasts_by_cancellation (cancelled_at)
) CHARACTER SET utf8mb4;

-- devices: ids in order, a blank between them; never changed. seq rises within an app in the order of commits, so that whoever sees
-- a number sees all smaller ones.
CREATE TABLE broadcast_devices (
  app_id       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  seq          BIGINT NOT NULL,
  message_id   CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  parked_at    DATETIME(3) NOT NULL,
  expires_at   DATETIME(3) NOT NULL,
  first_device VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  last_device  VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  devices      MEDIUMTEXT CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (app_id, seq),
  KEY broadcast_devices_by_message (app_id, message_id),
  KEY broadcast_devices_by_expiry (expires_at)
) CHARACTER SET utf8mb4;

CREATE TABLE broadcast_sequences (
  app_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  last   BIGINT NOT NULL,
  PRIMARY KEY (app_id)
) CHARACTER SET utf8mb4;

-- Of all lists up to seq that name the device, the end has been told. No row: 0.
CREATE TABLE broadcast_positions (
  app_id    VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  device_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  seq       BIGINT NOT NULL,
  moved_at  DATETIME(3) NOT NULL,
  PRIMARY KEY (app_id, device_id),
  KEY broadcast_positions_by_time (moved_at)
) CHARACTER SET utf8mb4;
