-- Who cancels a message finds what waits for it without a look at each of its deliveries.
CREATE INDEX inbox_by_message ON inbox (app_id, message_id);
