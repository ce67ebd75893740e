package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import com.hivemq.client.mqtt.MqttClientBuilder;
import com.hivemq.client.mqtt.MqttGlobalPublishFilter;
import com.hivemq.client.mqtt.datatypes.MqttQos;
import com.hivemq.client.mqtt.mqtt3.message.publish.Mqtt3Publish;
import com.hivemq.client.mqtt.mqtt5.Mqtt5BlockingClient;
import com.hivemq.client.mqtt.mqtt5.message.publish.Mqtt5Publish;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.Installed;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.eclipse.paho.client.mqttv3.MqttClient;
import org.eclipse.paho.client.mqttv3.MqttConnectOptions;
import org.eclipse.paho.client.mqttv3.persist.MemoryPersistence;
import org.eclipse.paho.mqttv5.client.IMqttMessageListener;
import org.eclipse.paho.mqttv5.client.MqttConnectionOptions;
import org.eclipse.paho.mqttv5.common.MqttMessage;
import org.eclipse.paho.mqttv5.common.MqttSubscription;
import org.fusesource.mqtt.client.MQTT;
import org.fusesource.mqtt.client.Topic;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Unchanged clients of four makers, and most of them over TLS, with the certificate's own file as
/// the authority that they trust. FuseSource's client is tried over TCP only: it is older than TLS
/// 1.3.
class StockClientsIT {
  private static final String PAYLOAD = "{\"id\":\"x\",\"title\":\"Grüße 🚀\",\"body\":\"a\\nb\"}";

  /// The bytes of `PayloadSizes` in dispatcher-api. Paho of MQTT 5 takes no packet that is longer
  /// than the Maximum Packet Size in CONNACK, although that limits the client's own packets.
  private static final int LONGEST = 4_096;

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static TestNode node;
  private static TestGateway gateway;
  private static Path authority;
  private static TrustManagerFactory trust;
  private static SSLContext trusting;

  private final DeviceKey device = TestNode.newDevice();

  @BeforeAll
  static void start(@TempDir Path directory) throws Exception {
    var certificate = TestCertificate.make(directory);
    authority = Files.writeString(directory.resolve("ca.pem"), certificate.certificatePem());
    var key = Files.writeString(directory.resolve("key.pem"), certificate.keyPem());
    trust = trusting(certificate);
    trusting = SSLContext.getInstance("TLS");
    trusting.init(null, trust.getTrustManagers(), null);
    node =
        TestNode.start(
            "--cm.tls.certificate=" + authority,
            "--cm.tls.private-key=" + key,
            "--cm.ws-port=0",
            "--cm.wss-port=0");
    gateway = new TestGateway(node, "gw-stock");
  }

  @AfterAll
  static void stop() throws Exception {
    gateway.close();
    node.close();
  }

  /// What a client with a file of trusted authorities trusts.
  private static TrustManagerFactory trusting(TestCertificate certificate) throws Exception {
    var store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    store.setCertificateEntry("authority", certificate.certificate());
    var factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(store);
    return factory;
  }

  /// "The use of one or more underlying transport protocols that provide an ordered, lossless,
  /// stream of bytes", both ways.
  @ParameterizedTest
  @ValueSource(strings = {"mqtt", "tls", "ws", "wss"})
  void mqtt_4_2_1_mqtt_7_1_1_1_each_transport_carries_all_packets_in_their_order(String listener)
      throws Exception {
    BlockingQueue<String> got = new LinkedBlockingQueue<>();
    var client = paho5(listener);
    client.subscribe(
        new MqttSubscription[] {new MqttSubscription("push/messages", 1)},
        new IMqttMessageListener[] {(_, message) -> got.add(message.toString())});
    // Four at a time, so that their order matters; the last one is the longest that the API takes.
    for (int group = 0; group < 100; group += 4) {
      var said =
          IntStream.range(group, group + 4)
              .mapToObj(n -> n + "x".repeat(n == 99 ? LONGEST - 2 : n * 40))
              .toList();
      for (var payload : said) {
        gateway.send(List.of(device), TestNode.newMessage(), payload, PATIENCE);
      }
      for (var payload : said) {
        assertThat(got.poll(60, TimeUnit.SECONDS)).isEqualTo(payload);
      }
    }
    var uplinks = IntStream.range(0, 100).mapToObj(n -> n + "y".repeat(n * 30)).toList();
    for (var uplink : uplinks) {
      client.publish("push/uplink", utf8(uplink), 1, false);
    }
    assertThat(node.uplinksOf(device, uplinks.size())).isEqualTo(uplinks);
    client.disconnect();
    client.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"mqtt", "tls"})
  void paho_of_mqtt_3_gets_the_gateways_payload_byte_for_byte(String listener) throws Exception {
    BlockingQueue<byte[]> got = new LinkedBlockingQueue<>();
    var client = paho3(listener);
    client.subscribe("push/messages", 1, (_, message) -> got.add(message.getPayload()));

    var outcome = gateway.deliver(device, TestNode.newMessage(), PAYLOAD);

    assertThat(got.poll(60, TimeUnit.SECONDS)).isEqualTo(utf8(PAYLOAD));
    assertThat(outcome.result()).isEqualTo(Result.DELIVERED);
    client.disconnect();
    client.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"mqtt", "tls"})
  void mqtt_7_0_0_2_paho_of_mqtt_5_gets_expiry_and_id_as_well(String listener) throws Exception {
    BlockingQueue<MqttMessage> got = new LinkedBlockingQueue<>();
    var message = TestNode.newMessage();
    var client = paho5(listener);
    client.subscribe(
        new MqttSubscription[] {new MqttSubscription("push/messages", 1)},
        new IMqttMessageListener[] {(_, arrived) -> got.add(arrived)});

    var outcome = gateway.deliver(device, message, PAYLOAD);

    var arrived = got.poll(60, TimeUnit.SECONDS);
    assertThat(arrived).isNotNull();
    assertThat(arrived.getPayload()).isEqualTo(utf8(PAYLOAD));
    assertThat(arrived.getProperties().getMessageExpiryInterval()).isBetween(3500L, 3600L);
    assertThat(arrived.getProperties().getUserProperties())
        .anySatisfy(property -> {
          assertThat(property.getKey()).isEqualTo("id");
          assertThat(property.getValue()).isEqualTo(message.value());
        });
    assertThat(outcome.result()).isEqualTo(Result.DELIVERED);
    client.disconnect();
  }

  @ParameterizedTest
  @ValueSource(strings = {"mqtt", "tls"})
  void mqtt_7_0_0_2_hivemqs_client_of_mqtt_5_gets_and_publishes_on_a_resumed_session(
      String listener) throws Exception {
    var client =
        hivemq(listener)
            .useMqttVersion5()
            .simpleAuth()
            .username(device.app().value())
            .password(utf8(TestNode.credential(device)))
            .applySimpleAuth()
            .buildBlocking();
    client.connectWith().cleanStart(true).sessionExpiryInterval(3_600).send();
    client.subscribeWith().topicFilter("push/messages").qos(MqttQos.AT_LEAST_ONCE).send();
    assertThat(deliveredTo(client)).isEqualTo(utf8(PAYLOAD));
    client.disconnectWith().sessionExpiryInterval(3_600).send();

    var again = client.connectWith().cleanStart(false).sessionExpiryInterval(3_600).send();

    assertThat(again.isSessionPresent()).isTrue();
    assertThat(deliveredTo(client)).isEqualTo(utf8(PAYLOAD));
    var published =
        client
            .publishWith()
            .topic("push/uplink")
            .qos(MqttQos.AT_LEAST_ONCE)
            .payload(utf8("up"))
            .send();
    assertThat(published.getError()).isEmpty();
    client.disconnect();
  }

  private byte[] deliveredTo(Mqtt5BlockingClient client) throws Exception {
    try (var arriving = client.publishes(MqttGlobalPublishFilter.ALL)) {
      return sentUntil(
          () -> arriving.receive(3, TimeUnit.SECONDS).map(Mqtt5Publish::getPayloadAsBytes));
    }
  }

  private interface Arriving {
    Optional<byte[]> next() throws InterruptedException;
  }

  /// HiveMQ's client begins to listen on its own thread some time after its call returned, and
  /// drops messages that come before. So the message is sent again.
  private byte[] sentUntil(Arriving arriving) throws Exception {
    for (int attempt = 0; attempt < 10; attempt++) {
      gateway.send(List.of(device), TestNode.newMessage(), PAYLOAD, PATIENCE);
      var arrived = arriving.next();
      if (arrived.isPresent()) {
        return arrived.get();
      }
    }
    throw new AssertionError("nothing arrived");
  }

  private MqttClientBuilder hivemq(String listener) {
    var builder =
        com.hivemq.client.mqtt.MqttClient.builder()
            .identifier(device.device().value())
            .serverHost("127.0.0.1")
            .serverPort(node.port(listener));
    return listener.equals("tls")
        ? builder.sslConfig().trustManagerFactory(trust).applySslConfig()
        : builder;
  }

  @ParameterizedTest
  @ValueSource(strings = {"mqtt", "tls"})
  void hivemqs_client_of_mqtt_3_gets_and_publishes(String listener) throws Exception {
    var client =
        hivemq(listener)
            .useMqttVersion3()
            .simpleAuth()
            .username(device.app().value())
            .password(utf8(TestNode.credential(device)))
            .applySimpleAuth()
            .buildBlocking();
    client.connect();
    client.subscribeWith().topicFilter("push/messages").qos(MqttQos.AT_LEAST_ONCE).send();
    try (var arriving = client.publishes(MqttGlobalPublishFilter.ALL)) {
      var arrived =
          sentUntil(
              () -> arriving.receive(3, TimeUnit.SECONDS).map(Mqtt3Publish::getPayloadAsBytes));

      assertThat(arrived).isEqualTo(utf8(PAYLOAD));
    }
    client.publishWith().topic("push/uplink").qos(MqttQos.AT_LEAST_ONCE).payload(utf8("up")).send();
    client.disconnect();
  }

  @Test
  void fusesources_client_gets_and_publishes() throws Exception {
    var settings = new MQTT();
    settings.setHost("127.0.0.1", node.port("mqtt"));
    settings.setVersion("3.1.1");
    settings.setClientId(device.device().value());
    settings.setUserName(device.app().value());
    settings.setPassword(TestNode.credential(device));
    settings.setConnectAttemptsMax(1);
    var client = settings.blockingConnection();
    client.connect();
    var granted =
        client.subscribe(
            new Topic[] {new Topic("push/messages", org.fusesource.mqtt.client.QoS.AT_LEAST_ONCE)});
    assertThat(granted).containsExactly(1);
    gateway.send(List.of(device), TestNode.newMessage(), PAYLOAD, PATIENCE);

    var arrived = client.receive(60, TimeUnit.SECONDS);

    assertThat(arrived).isNotNull();
    assertThat(arrived.getPayload()).isEqualTo(utf8(PAYLOAD));
    arrived.ack();
    client.publish("push/uplink", utf8("up"), org.fusesource.mqtt.client.QoS.AT_LEAST_ONCE, false);
    client.disconnect();
  }

  @ParameterizedTest
  @ValueSource(strings = {"mqtt", "tls"})
  void mqtt_7_0_0_2_mosquittos_tools_subscribe_and_publish_on_both_versions(String listener)
      throws Exception {
    for (var version : List.of("mqttv311", "mqttv5")) {
      var out = Files.createTempFile("mosquitto", ".out");
      var subscriber =
          mosquitto(
              "mosquitto_sub",
              listener,
              version,
              out,
              "-t",
              "push/messages",
              "-q",
              "1",
              "-C",
              "1",
              "-W",
              "60");
      Eventually.within(
          PATIENCE,
          () ->
              assertThat(gateway.deliver(device, TestNode.newMessage(), PAYLOAD).result())
                  .isEqualTo(Result.DELIVERED));
      assertThat(subscriber.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(Files.readString(out)).isEqualTo(PAYLOAD + "\n");

      node.events();
      var receipt = TestNode.newMessage();
      var publisher =
          mosquitto(
              "mosquitto_pub",
              listener,
              version,
              out,
              "-t",
              "push/receipts",
              "-q",
              "1",
              "-m",
              "{\"id\":\"" + receipt + "\",\"event\":\"opened\"}");
      assertThat(publisher.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(publisher.exitValue()).isZero();
      assertThat(node.events())
          .anySatisfy(event -> {
            assertThat(event).isInstanceOf(DeliveryEvent.Receipt.class);
            var opened = (DeliveryEvent.Receipt) event;
            assertThat(opened.message()).isEqualTo(receipt);
            assertThat(opened.device()).isEqualTo(device.device());
            assertThat(opened.kind()).isEqualTo(DeliveryEvent.Receipt.Kind.OPENED);
          });
    }
  }

  private Process mosquitto(
      String program, String listener, String version, Path out, String... more) throws Exception {
    var command =
        new ArrayList<>(
            List.of(
                Installed.program(program, program.toUpperCase(Locale.ROOT), "mosquitto-clients")
                    .toString(),
                "-h",
                "127.0.0.1",
                "-p",
                Integer.toString(node.port(listener)),
                "-V",
                version,
                "-i",
                device.device().value(),
                "-u",
                device.app().value(),
                "-P",
                TestNode.credential(device)));
    if (listener.equals("tls")) {
      command.addAll(List.of("--cafile", authority.toString()));
    }
    command.addAll(List.of(more));
    return new ProcessBuilder(command)
        .redirectOutput(out.toFile())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  private static String address(String listener) {
    var scheme = listener.equals("mqtt") ? "tcp" : listener.equals("tls") ? "ssl" : listener;
    var path = listener.startsWith("ws") ? "/mqtt" : "";
    return scheme + "://127.0.0.1:" + node.port(listener) + path;
  }

  private static boolean isTls(String listener) {
    return listener.equals("tls") || listener.equals("wss");
  }

  private MqttClient paho3(String listener) throws Exception {
    var client =
        new MqttClient(address(listener), device.device().value(), new MemoryPersistence());
    var options = new MqttConnectOptions();
    if (isTls(listener)) {
      options.setSocketFactory(trusting.getSocketFactory());
    }
    options.setUserName(device.app().value());
    options.setPassword(TestNode.credential(device).toCharArray());
    client.connect(options);
    return client;
  }

  private org.eclipse.paho.mqttv5.client.MqttClient paho5(String listener) throws Exception {
    var client =
        new org.eclipse.paho.mqttv5.client.MqttClient(
            address(listener),
            device.device().value(),
            new org.eclipse.paho.mqttv5.client.persist.MemoryPersistence());
    var options = new MqttConnectionOptions();
    if (isTls(listener)) {
      options.setSocketFactory(trusting.getSocketFactory());
    }
    options.setUserName(device.app().value());
    options.setPassword(utf8(TestNode.credential(device)));
    client.connect(options);
    return client;
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
