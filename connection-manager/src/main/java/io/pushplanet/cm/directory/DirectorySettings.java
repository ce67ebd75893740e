package io.pushplanet.cm.directory;

import java.time.Duration;

/// @param waiting connects and disconnects in the queue to the directory, at most
/// @param claimWithin a connect that waited in the queue for longer is refused
/// @param formerWithin how long a connect waits for the former owner to release the device and to
///     describe the session
/// @param together the least time between the beginnings of two round trips to the directory
/// @param verifyEvery every session is compared with the directory once within this time
/// @param patrolEvery the inbox of every connected device is checked once within this time
public record DirectorySettings(
    int waiting,
    Duration claimWithin,
    Duration formerWithin,
    Duration together,
    Duration verifyEvery,
    Duration patrolEvery) {}
