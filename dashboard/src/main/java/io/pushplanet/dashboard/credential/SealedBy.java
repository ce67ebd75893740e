package io.pushplanet.dashboard.credential;

/// The number of credentials that the master key of this name seals; the name is empty when it is
/// not known.
record SealedBy(String name, long sealed) {}
