package io.pushplanet.cm;

import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttVersion;
import java.io.IOException;
import java.security.Security;

/// A device that changes its TLS keys before every packet and asks for the server's to be changed,
/// too. In a JVM of its own, because the number of changes is a JVM-wide setting that is read once.
/// Prints how many of [#MAX] pings were answered.
final class KeyChanger {
  static final int MAX = 500;

  private KeyChanger() {}

  public static void main(String[] arguments) throws Exception {
    Security.setProperty(
        "jdk.tls.keyLimits", "AES/GCM/NoPadding KeyUpdate 2^1, ChaCha20-Poly1305 KeyUpdate 2^1");
    int answered = 0;
    try (var socket =
        new TestCertificate.Witness()
            .context()
            .getSocketFactory()
            .createSocket("127.0.0.1", Integer.parseInt(arguments[0]))) {
      var client = new RawClient(socket, MqttVersion.V5);
      client.send(RawClient.connect(MqttVersion.V5, TestNode.newDevice()));
      client.expect(MqttPacket.ConnAck.class);
      while (answered < MAX && client.send(new MqttPacket.PingReq()).next().isPresent()) {
        answered++;
      }
    } catch (IOException closed) {
      // The printed number tells.
    }
    System.out.println(answered);
  }
}
