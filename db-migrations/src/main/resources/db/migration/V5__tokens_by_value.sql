-- A token that is registered for another device of the same app moves: found by its first letters, which differ.
ALTER TABLE channel_tokens ADD KEY channel_tokens_by_token (app_id, channel, token(64));
