-- Broadcast channels of APNs for Live Activities. state: pending (a worker asks Apple for it), ready, deleting, failed.
-- keeps: none, newest (what Apple keeps for devices that are away). apns_id: Apple's own id; null until Apple has made it.
-- due_at: when a worker turns to it next; null: nobody wants anything of it. reason: why it waits or has failed.
CREATE TABLE live_activity_channels (
  app_id      VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  channel_id  VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  environment VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  keeps       VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  state       VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  reason      VARCHAR(128) NULL,
  apns_id     VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NULL,
  created_at  DATETIME(3) NOT NULL,
  ready_at    DATETIME(3) NULL,
  due_at      DATETIME(3) NULL,
  tries       INT NOT NULL DEFAULT 0,
  PRIMARY KEY (app_id, channel_id),
  KEY live_activity_channels_by_environment (app_id, environment),
  KEY live_activity_channels_by_due (due_at)
) CHARACTER SET utf8mb4;
