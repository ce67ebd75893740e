package io.pushplanet.dashboard.credential;

import io.pushplanet.common.message.AppId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// A credential that an operator has to look after.
///
/// @param reason the provider's word, when it refuses it
/// @param expiresAt when it ends, if that is the trouble
/// @param keptAt when so many of its tokens looked dead that none was forgotten, if that is
public record Trouble(
    AppId appId,
    String provider,
    String environment,
    String kind,
    @Nullable String reason,
    @Nullable Instant expiresAt,
    @Nullable Instant keptAt) {}
