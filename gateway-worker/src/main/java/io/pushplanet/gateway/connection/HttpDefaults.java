package io.pushplanet.gateway.connection;

import org.apache.hc.client5.http.impl.async.HttpAsyncClientBuilder;

/// What all clients have in common: they follow no redirects, keep no cookies and repeat nothing.
final class HttpDefaults {
  private HttpDefaults() {}

  static HttpAsyncClientBuilder builder() {
    return HttpAsyncClientBuilder.create()
        .setIoReactorExceptionCallback(LoopFailures::log)
        .setUserAgent("push-planet")
        .disableRedirectHandling()
        .disableAutomaticRetries()
        .disableCookieManagement()
        .disableAuthCaching()
        .disableContentCompression();
  }
}
