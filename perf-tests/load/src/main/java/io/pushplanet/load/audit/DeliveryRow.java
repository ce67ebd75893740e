package io.pushplanet.load.audit;

import io.pushplanet.common.delivery.DeliveryState;

/// What MySQL says of one message at one device.
///
/// @param channel empty while there is none
/// @param reason empty where there is none
public record DeliveryRow(
    Reception reception, DeliveryState state, String channel, String reason, int duplicates) {}
