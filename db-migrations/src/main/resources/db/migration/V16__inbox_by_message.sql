-- Who cancels a message finds what waits for it without a look at each of its deliveries. Without app_id: a device's inbox would be
-- read by it, too.
CREATE INDEX inbox_by_message ON inbox (message_id);
