-- What waits for a credential is found whatever else waits. Without app_id in front: a message's rows might be read by it. Nobody reads by
-- later_by_due any more.
ALTER TABLE later ADD KEY later_by_reason (lane, app_id, reason, due_at, id), DROP KEY later_by_due, ALGORITHM = INPLACE, LOCK = NONE;
