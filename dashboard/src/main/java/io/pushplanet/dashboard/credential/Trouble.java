package io.pushplanet.dashboard.credential;

import io.pushplanet.common.message.AppId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// A credential that needs an operator's attention.
///
/// @param reason the error code of the provider, when it refuses the credential
/// @param expiresAt when it expires, if that is the trouble
/// @param keptAt when so many of its tokens looked dead that none was deleted, if that is the
///     trouble
public record Trouble(
    AppId appId,
    String provider,
    String environment,
    String kind,
    @Nullable String reason,
    @Nullable Instant expiresAt,
    @Nullable Instant keptAt) {}
