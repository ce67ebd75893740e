package io.pushplanet.dashboard.credential;

import io.pushplanet.common.message.AppId;

/// A row of `credentials` to be sealed again.
record SealedCredential(long id, AppId appId, String provider, String environment, byte[] secret) {
  @Override
  public String toString() {
    return "SealedCredential[" + id + "]";
  }
}
