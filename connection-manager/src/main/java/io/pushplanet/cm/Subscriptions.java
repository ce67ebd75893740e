package io.pushplanet.cm;

import io.pushplanet.cm.admission.AdmissionMetrics;
import io.pushplanet.cm.directory.Registrar;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.SubscriptionRequest;
import io.pushplanet.cm.mqtt.link.Link;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.Subscription;
import java.util.ArrayList;

/// Answers SUBSCRIBE and UNSUBSCRIBE. Devices receive on one topic, so a session has one
/// subscription or none. Stateless; called on the link's loop.
final class Subscriptions {
  private static final String WHY =
      "subscribe to " + DeviceSession.TOPIC + ", neither shared nor with wildcards";

  private final Registrar registrar;
  private final AdmissionMetrics metrics;

  Subscriptions(Registrar registrar, AdmissionMetrics metrics) {
    this.registrar = registrar;
    this.metrics = metrics;
  }

  void subscribe(Link link, DeviceSession session, MqttPacket.Subscribe subscribe) {
    var codes = new ArrayList<Integer>();
    Subscription wanted = null;
    boolean refused = false;
    int identifier = (int) subscribe.properties().number(PropertyId.SUBSCRIPTION_IDENTIFIER, 0);
    for (SubscriptionRequest request : subscribe.requests()) {
      ReasonCode reason = judge(request);
      if (reason.isFailure()) {
        refused = true;
        metrics.refused(reason);
        codes.add(link.isV5() ? reason.code() : ReasonCode.V3_SUBSCRIPTION_FAILED);
      } else {
        QoS granted = request.qos().atMost(QoS.AT_LEAST_ONCE);
        wanted = Subscription.of(granted, identifier);
        codes.add(granted.ordinal());
      }
    }
    MqttProperties told =
        refused && link.explains()
            ? MqttProperties.with(PropertyId.REASON_STRING, WHY)
            : MqttProperties.NONE;
    link.send(new MqttPacket.SubAck(subscribe.packetId(), codes, told));
    if (wanted != null) {
      session.subscribe(wanted);
      registrar.remember(session);
    }
  }

  private static ReasonCode judge(SubscriptionRequest request) {
    if (request.isShared()) {
      return ReasonCode.SHARED_SUBSCRIPTIONS_NOT_SUPPORTED;
    }
    if (request.hasWildcard()) {
      return ReasonCode.WILDCARD_SUBSCRIPTIONS_NOT_SUPPORTED;
    }
    return request.filter().equals(DeviceSession.TOPIC)
        ? ReasonCode.SUCCESS
        : ReasonCode.NOT_AUTHORIZED;
  }

  void unsubscribe(Link link, DeviceSession session, MqttPacket.Unsubscribe unsubscribe) {
    var codes = new ArrayList<Integer>();
    for (String filter : unsubscribe.filters()) {
      boolean held = filter.equals(DeviceSession.TOPIC) && session.subscription() != null;
      if (held) {
        session.unsubscribe();
        registrar.remember(session);
      }
      codes.add(held ? 0 : ReasonCode.NO_SUBSCRIPTION_EXISTED.code());
    }
    link.send(new MqttPacket.UnsubAck(unsubscribe.packetId(), codes, MqttProperties.NONE));
  }
}
