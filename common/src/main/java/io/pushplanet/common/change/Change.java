package io.pushplanet.common.change;

import io.pushplanet.common.message.AppId;

/// A row of `changes`.
///
/// @param subject the id of the row that changed
public record Change(long id, Kind kind, AppId app, String subject) {
  public enum Kind {
    APP,
    API_KEY,
    CREDENTIAL
  }
}
