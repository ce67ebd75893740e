-- The bundle for which Apple made the channel: to the credentials of others it is not registered. Null in rows from before.
ALTER TABLE live_activity_channels ADD COLUMN bundle_id VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NULL, ALGORITHM = INSTANT;
