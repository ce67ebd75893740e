package io.pushplanet.load.audit;

import io.pushplanet.common.delivery.DeliveryState;

/// MySQL's row of one message at one device.
///
/// @param channel empty for none
/// @param reason empty for none
public record DeliveryRow(
    Reception reception, DeliveryState state, String channel, String reason, int duplicates) {}
