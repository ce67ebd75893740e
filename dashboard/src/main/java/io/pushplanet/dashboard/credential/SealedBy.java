package io.pushplanet.dashboard.credential;

/// How many credentials are sealed with the master key of this name; empty where the name is not known.
record SealedBy(String name, long sealed) {}
