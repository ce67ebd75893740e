package io.pushplanet.common.wire;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.Audience;
import org.jspecify.annotations.Nullable;

/// A message whose recipients the fan-out role must still find; an item of `push.fanout.high` and
/// `push.fanout.normal`.
///
/// @param push without recipients
/// @param after the last device already done; null at the start. Each step sends some chunks and
///     then the rest of the order.
public record FanoutOrder(Push push, Audience audience, @Nullable DeviceId after) {}
