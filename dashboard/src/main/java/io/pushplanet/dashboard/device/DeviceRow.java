package io.pushplanet.dashboard.device;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// A row of `devices`.
record DeviceRow(
    AppId appId,
    DeviceId deviceId,
    String platform,
    boolean mqtt,
    @Nullable String userId,
    @Nullable String locale,
    @Nullable String timezone,
    @Nullable String appVersion,
    Instant createdAt,
    Instant updatedAt,
    Instant seenAt) {}
