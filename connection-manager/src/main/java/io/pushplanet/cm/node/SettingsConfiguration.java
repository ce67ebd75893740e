package io.pushplanet.cm.node;

import io.pushplanet.cm.delivery.DeliverySettings;
import io.pushplanet.cm.directory.DirectorySettings;
import io.pushplanet.cm.inbox.InboxSettings;
import io.pushplanet.cm.session.SessionLimits;
import io.pushplanet.cm.transport.TransportSettings;
import io.pushplanet.cm.uplink.UplinkSettings;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/// Gives each feature its part of [NodeSettings], which no feature depends on.
@Configuration(proxyBeanMethods = false)
class SettingsConfiguration {
  @Bean
  SessionLimits sessionLimits(NodeSettings settings) {
    NodeSettings.Session of = settings.session();
    return new SessionLimits(
        of.window(),
        of.waiting(),
        of.holdUntilSubscribed(),
        settings.keepAlive().deadPathAfter(),
        of.acknowledgeWithin());
  }

  @Bean
  DirectorySettings directorySettings(NodeSettings settings) {
    NodeSettings.Directory of = settings.directory();
    return new DirectorySettings(
        of.waiting(),
        of.claimWithin(),
        of.formerWithin(),
        of.together(),
        of.verifyEvery(),
        settings.inbox().patrolEvery());
  }

  @Bean
  InboxSettings inboxSettings(NodeSettings settings) {
    NodeSettings.Inbox of = settings.inbox();
    return new InboxSettings(
        of.readers(),
        of.waiting(),
        of.together(),
        of.devicesPerRead(),
        of.rowsPerDevice(),
        of.rowsPerRead());
  }

  @Bean
  UplinkSettings uplinkSettings(NodeSettings settings) {
    NodeSettings.Uplink of = settings.uplink();
    return new UplinkSettings(
        Math.toIntExact(of.bytes().toBytes()),
        of.inFlight(),
        of.perSecond(),
        of.burst(),
        of.maxOpen());
  }

  @Bean
  DeliverySettings deliverySettings(NodeSettings settings, TransportSettings transport) {
    NodeSettings.Delivery of = settings.delivery();
    return new DeliverySettings(
        settings.gatewayUser(),
        settings.gatewayPassword(),
        of.maxOpenTargets(),
        of.framesWaiting(),
        of.broadcastBytes().toBytes() / transport.loops(),
        of.longestWait());
  }
}
