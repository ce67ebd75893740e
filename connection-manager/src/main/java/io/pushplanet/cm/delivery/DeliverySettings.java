package io.pushplanet.cm.delivery;

import io.pushplanet.common.access.Secret;
import java.time.Duration;

/// @param mostOpenTargets targets that wait for their devices, over all gateways; more are refused
/// @param framesWaiting frames of one gateway that wait to be read: the Receive Maximum it is told
/// @param broadcastBytes that broadcasts may have in flight, per loop
/// @param longestWait how long a device's acknowledgement is waited for at most, whatever the frame says
public record DeliverySettings(
    String user,
    Secret password,
    int mostOpenTargets,
    int framesWaiting,
    long broadcastBytes,
    Duration longestWait) {}
