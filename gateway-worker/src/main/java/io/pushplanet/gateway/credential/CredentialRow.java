package io.pushplanet.gateway.credential;

import java.sql.ResultSet;
import java.sql.SQLException;

/// A row of `credentials`.
record CredentialRow(
    long id, String provider, String environment, String kind, String detail, byte[] secret) {
  static CredentialRow of(ResultSet row) throws SQLException {
    return new CredentialRow(
        row.getLong("id"),
        row.getString("provider"),
        row.getString("environment"),
        row.getString("kind"),
        row.getString("detail"),
        row.getBytes("secret"));
  }

  @Override
  public String toString() {
    return "CredentialRow[" + id + "]";
  }
}
