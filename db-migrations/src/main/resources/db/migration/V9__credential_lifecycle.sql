-- state: candidate (uploaded, not in use), active, overlapping (replaced, kept until overlap_until), retired.
-- key_id: the master key that the secret is sealed with; null where that is not known.
-- paused_at: the provider refuses it; nothing is sent with it, the messages wait. pause_reason: the provider's word.
-- probe_at: when a worker asks the provider whether it takes the credential; null: nobody wants to know.
-- probe_verdict: accepted, refused, unreachable. probes: of the present pause.
ALTER TABLE credentials
  ADD COLUMN key_id        VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NULL,
  ADD COLUMN overlap_until DATETIME(3) NULL,
  ADD COLUMN paused_at     DATETIME(3) NULL,
  ADD COLUMN pause_reason  VARCHAR(128) NULL,
  ADD COLUMN probe_at      DATETIME(3) NULL,
  ADD COLUMN probes        INT NOT NULL DEFAULT 0,
  ADD COLUMN probed_at     DATETIME(3) NULL,
  ADD COLUMN probe_verdict VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NULL,
  ADD COLUMN probe_reason  VARCHAR(255) NULL,
  ADD KEY credentials_by_probe (probe_at),
  ADD KEY credentials_by_pause (paused_at),
  ADD KEY credentials_by_overlap (overlap_until),
  ADD KEY credentials_by_expiry (expires_at),
  ADD KEY credentials_by_key (key_id);

-- What operators must know of. alert_key makes each told once. send_at: when the webhook is tried next; null: told, or nobody to tell.
CREATE TABLE alerts (
  id        BIGINT NOT NULL AUTO_INCREMENT,
  alert_key VARCHAR(190) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  kind      VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  app_id    VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  subject   VARCHAR(190) NOT NULL,
  text      VARCHAR(1000) NOT NULL,
  at        DATETIME(3) NOT NULL,
  send_at   DATETIME(3) NULL,
  tries     INT NOT NULL DEFAULT 0,
  sent_at   DATETIME(3) NULL,
  problem   VARCHAR(190) NULL,
  PRIMARY KEY (id),
  UNIQUE KEY alerts_by_key (alert_key),
  KEY alerts_by_app (app_id, id),
  KEY alerts_by_sending (send_at)
) CHARACTER SET utf8mb4;
