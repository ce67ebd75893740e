-- When the last password ends that the device was given; null where a version before this one gave it.
ALTER TABLE devices ADD COLUMN credential_ends DATETIME NULL, ALGORITHM = INSTANT;
