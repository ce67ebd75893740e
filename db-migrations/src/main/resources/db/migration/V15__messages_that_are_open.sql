-- open_until: `expires_at` while some of its deliveries are queued, else null. Rows from before have null until something is told of them.
ALTER TABLE messages ADD COLUMN open_until DATETIME(3) NULL, ALGORITHM = INSTANT;
ALTER TABLE messages ADD KEY messages_by_open (open_until, id), ALGORITHM = INPLACE, LOCK = NONE;
