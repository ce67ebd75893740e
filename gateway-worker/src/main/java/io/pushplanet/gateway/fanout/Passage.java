package io.pushplanet.gateway.fanout;

import io.pushplanet.common.message.AppId;

/// What the messages of a step must pass, and what may be full.
sealed interface Passage {
  /// A queue of the broker, in which all apps' messages wait ([LaneDepths]).
  record Lane(String queue) implements Passage {}

  /// The vendor's quota for one app's messages of a lane ([QuotaQueues]).
  record Quota(AppId app, String lane) implements Passage {}
}
