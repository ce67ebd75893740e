package io.pushplanet.dashboard.app;

import io.pushplanet.common.message.AppId;
import java.time.Instant;

/// A row of `apps`.
public record App(AppId id, String name, Instant createdAt) {}
