-- MySQL 8.4 and MariaDB 10.11 and newer. Identifiers are ASCII and compared by byte; all times are UTC.

CREATE TABLE apps (
  id         VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  name       VARCHAR(200) NOT NULL,
  created_at DATETIME(3) NOT NULL,
  PRIMARY KEY (id)
) CHARACTER SET utf8mb4;

-- A key is shown once; only its SHA-256 is kept. At most two keys of an app are live (checked by the dashboard).
CREATE TABLE api_keys (
  id         VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  app_id     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  name       VARCHAR(200) NOT NULL,
  hash       BINARY(32) NOT NULL,
  scopes     VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  created_at DATETIME(3) NOT NULL,
  revoked_at DATETIME(3) NULL,
  PRIMARY KEY (id),
  KEY api_keys_by_app (app_id)
) CHARACTER SET utf8mb4;

-- One active row per (app, provider, environment); the former one stays as `retired`.
CREATE TABLE credentials (
  id          BIGINT NOT NULL AUTO_INCREMENT,
  app_id      VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  provider    VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  environment VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  kind        VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  state       VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  detail      TEXT NOT NULL,
  secret      BLOB NOT NULL,
  expires_at  DATETIME(3) NULL,
  created_at  DATETIME(3) NOT NULL,
  created_by  VARCHAR(200) NOT NULL,
  PRIMARY KEY (id),
  KEY credentials_by_app (app_id, provider, environment, state)
) CHARACTER SET utf8mb4;

CREATE TABLE devices (
  app_id      VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  device_id   VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  platform    VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  mqtt        BOOLEAN NOT NULL,
  user_id     VARCHAR(128) COLLATE utf8mb4_bin NULL,
  locale      VARCHAR(35) CHARACTER SET ascii COLLATE ascii_bin NULL,
  timezone    VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  app_version VARCHAR(64) NULL,
  created_at  DATETIME(3) NOT NULL,
  updated_at  DATETIME(3) NOT NULL,
  seen_at     DATETIME(3) NOT NULL,
  PRIMARY KEY (app_id, device_id),
  KEY devices_by_user (app_id, user_id, device_id)
) CHARACTER SET utf8mb4;

-- channel: apns, fcm, webpush. `registered_at` is what a provider's "gone since" is compared with.
CREATE TABLE channel_tokens (
  app_id        VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  device_id     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  channel       VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  token         VARCHAR(4096) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  kind          VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  environment   VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  registered_at DATETIME(3) NOT NULL,
  dead_at       DATETIME(3) NULL,
  dead_reason   VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  PRIMARY KEY (app_id, device_id, channel)
) CHARACTER SET utf8mb4;

CREATE TABLE device_topics (
  app_id    VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  topic     VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  device_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (app_id, topic, device_id),
  KEY device_topics_by_device (app_id, device_id, topic)
) CHARACTER SET utf8mb4;

CREATE TABLE device_tags (
  app_id    VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  tag       VARCHAR(128) COLLATE utf8mb4_bin NOT NULL,
  device_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (app_id, tag, device_id),
  KEY device_tags_by_device (app_id, device_id, tag)
) CHARACTER SET utf8mb4;

-- Written behind from `accepted` events. `day` is the UTC day in the message id (UUIDv7), so an id alone finds its partition.
-- Counts are moved only together with the delivery rows they count, in one transaction.
CREATE TABLE messages (
  day          DATE NOT NULL,
  id           CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  app_id       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  audience     MEDIUMTEXT NOT NULL,
  content      TEXT NOT NULL,
  delivery     TEXT NOT NULL,
  accepted_at  DATETIME(3) NOT NULL,
  expires_at   DATETIME(3) NOT NULL,
  expanded_at  DATETIME(3) NULL,
  cancelled_at DATETIME(3) NULL,
  recipients   INT NOT NULL DEFAULT 0,
  delivered    INT NOT NULL DEFAULT 0,
  failed       INT NOT NULL DEFAULT 0,
  expired      INT NOT NULL DEFAULT 0,
  cancelled    INT NOT NULL DEFAULT 0,
  duplicates   INT NOT NULL DEFAULT 0,
  opened       INT NOT NULL DEFAULT 0,
  PRIMARY KEY (day, id),
  KEY messages_by_app (app_id, id)
) CHARACTER SET utf8mb4
PARTITION BY RANGE COLUMNS (day) (PARTITION p_later VALUES LESS THAN (MAXVALUE));

-- One row per (message, device). state: queued, delivered, failed, expired, cancelled. attempts: JSON list, newest last.
CREATE TABLE deliveries (
  day          DATE NOT NULL,
  message_id   CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  device_id    VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  app_id       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  state        VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  channel      VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NULL,
  reason       VARCHAR(128) NULL,
  attempts     TEXT NOT NULL,
  duplicates   INT NOT NULL DEFAULT 0,
  queued_at    DATETIME(3) NOT NULL,
  finished_at  DATETIME(3) NULL,
  displayed_at DATETIME(3) NULL,
  opened_at    DATETIME(3) NULL,
  PRIMARY KEY (day, message_id, device_id),
  KEY deliveries_by_device (app_id, device_id, message_id)
) CHARACTER SET utf8mb4
PARTITION BY RANGE COLUMNS (day) (PARTITION p_later VALUES LESS THAN (MAXVALUE));

-- outcome: accepted, delivered, failed, expired, cancelled, opened. reason is '' where there is none.
CREATE TABLE statistics_minutes (
  day     DATE NOT NULL,
  minute  DATETIME NOT NULL,
  app_id  VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  channel VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  outcome VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  reason  VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  count   BIGINT NOT NULL,
  PRIMARY KEY (day, minute, app_id, channel, outcome, reason)
) CHARACTER SET utf8mb4
PARTITION BY RANGE COLUMNS (day) (PARTITION p_later VALUES LESS THAN (MAXVALUE));

-- Whatever must happen later: retries, scheduled sends. `lane` is a queue name, `pushes` a lane batch (wire form).
CREATE TABLE later (
  id         CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  due_at     DATETIME(3) NOT NULL,
  app_id     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  message_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  lane       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  reason     VARCHAR(128) NOT NULL,
  pushes     MEDIUMTEXT NOT NULL,
  PRIMARY KEY (id),
  KEY later_by_due (due_at, id),
  KEY later_by_message (app_id, message_id)
) CHARACTER SET utf8mb4;

-- What waits for a device to connect. slot is the collapse key, or the message id where there is none: newest wins.
CREATE TABLE inbox (
  app_id     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  device_id  VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  slot       VARCHAR(64) COLLATE utf8mb4_bin NOT NULL,
  message_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  payload    TEXT NOT NULL,
  parked_at  DATETIME(3) NOT NULL,
  expires_at DATETIME(3) NOT NULL,
  PRIMARY KEY (app_id, device_id, slot),
  KEY inbox_by_expiry (expires_at)
) CHARACTER SET utf8mb4;

-- Every change that a process may hold in its local cache. Processes read on from the last id they saw.
-- kind: app, api_key, credential. subject: the row's id.
CREATE TABLE changes (
  id      BIGINT NOT NULL AUTO_INCREMENT,
  kind    VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  app_id  VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  subject VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  at      DATETIME(3) NOT NULL,
  PRIMARY KEY (id),
  KEY changes_by_time (at)
) CHARACTER SET utf8mb4;

CREATE TABLE operators (
  name            VARCHAR(100) COLLATE utf8mb4_bin NOT NULL,
  password        VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  role            VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  failed_logins   INT NOT NULL DEFAULT 0,
  locked_until    DATETIME(3) NULL,
  created_at      DATETIME(3) NOT NULL,
  last_login_at   DATETIME(3) NULL,
  PRIMARY KEY (name)
) CHARACTER SET utf8mb4;

CREATE TABLE audit (
  id       BIGINT NOT NULL AUTO_INCREMENT,
  at       DATETIME(3) NOT NULL,
  operator VARCHAR(100) COLLATE utf8mb4_bin NOT NULL,
  action   VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  subject  VARCHAR(255) NOT NULL,
  detail   TEXT NOT NULL,
  PRIMARY KEY (id),
  KEY audit_by_time (at)
) CHARACTER SET utf8mb4;

-- Uplinks a device published, for the app's backend to read in order.
CREATE TABLE uplinks (
  id        BIGINT NOT NULL AUTO_INCREMENT,
  event_id  CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  app_id    VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  device_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  at        DATETIME(3) NOT NULL,
  payload   VARBINARY(4096) NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY uplinks_by_event (event_id),
  KEY uplinks_by_app (app_id, id)
) CHARACTER SET utf8mb4;
