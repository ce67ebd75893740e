-- mail_at: when the mail server is tried next; null: told, or nobody to tell. alerts_by_time: old ones go.
ALTER TABLE alerts
  ADD COLUMN mail_at      DATETIME(3) NULL,
  ADD COLUMN mail_tries   INT NOT NULL DEFAULT 0,
  ADD COLUMN mailed_at    DATETIME(3) NULL,
  ADD COLUMN mail_problem VARCHAR(190) NULL,
  ADD KEY alerts_by_mailing (mail_at),
  ADD KEY alerts_by_time (at);
