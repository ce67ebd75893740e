package io.pushplanet.cm.inbox;

import java.time.Duration;

/// @param readers statements at once
/// @param waiting how many devices may wait to be read, and how many delivered rows to be deleted
/// @param together the least time between the beginnings of two statements that are not full
public record InboxSettings(
    int readers,
    int waiting,
    Duration together,
    int devicesPerRead,
    int rowsPerDevice,
    int rowsPerRead) {}
