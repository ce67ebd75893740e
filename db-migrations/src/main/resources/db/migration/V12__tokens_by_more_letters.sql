-- Subscriptions at one push service begin alike: those of Firefox have their first 64 letters in common.
ALTER TABLE channel_tokens
  DROP KEY channel_tokens_by_token,
  ADD KEY channel_tokens_by_token (app_id, channel, token(128));
