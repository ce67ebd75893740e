package io.pushplanet.gateway.credential;

/// An active row of `credentials`.
record CredentialRow(
    long id, String provider, String environment, String kind, String detail, byte[] secret) {
  @Override
  public String toString() {
    return "CredentialRow[" + id + "]";
  }
}
