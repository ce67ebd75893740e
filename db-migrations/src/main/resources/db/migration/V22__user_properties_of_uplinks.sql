-- The MQTT 5 user properties of an uplink, as JSON pairs of name and value. Null for none, and in rows from before.
ALTER TABLE uplinks ADD COLUMN user_properties TEXT NULL, ALGORITHM = INSTANT;
