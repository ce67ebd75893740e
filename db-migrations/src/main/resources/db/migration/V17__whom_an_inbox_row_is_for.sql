-- user_id: for whom a message is while they have the device; null where it is for whoever has it, and in rows from before.
ALTER TABLE inbox ADD COLUMN user_id VARCHAR(128) COLLATE utf8mb4_bin NULL, ALGORITHM = INSTANT;
