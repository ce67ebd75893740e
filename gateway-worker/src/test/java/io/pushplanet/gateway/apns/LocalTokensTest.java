package io.pushplanet.gateway.apns;

import java.time.Clock;

class LocalTokensTest extends SharedTokensContract {
  @Override
  SharedTokens shared() {
    return new LocalTokens(Clock.systemUTC());
  }

  @Override
  SharedTokens away() {
    return LocalTokens.away(Clock.systemUTC());
  }
}
