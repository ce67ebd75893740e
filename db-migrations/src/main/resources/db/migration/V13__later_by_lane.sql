-- What is due is claimed lane by lane. later_by_due stays for workers of the version before, and goes with a later migration.
ALTER TABLE later ADD KEY later_by_lane (lane, due_at, id), ALGORITHM = INPLACE, LOCK = NONE;
