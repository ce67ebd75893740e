-- Old ones go.
ALTER TABLE uplinks ADD KEY uplinks_by_time (at), ALGORITHM = INPLACE, LOCK = NONE;
