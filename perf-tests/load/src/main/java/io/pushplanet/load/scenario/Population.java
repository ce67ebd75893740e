package io.pushplanet.load.scenario;

import io.pushplanet.common.access.Secret;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.load.client.HttpAnswer;
import io.pushplanet.load.client.HttpConnection;
import io.pushplanet.load.fleet.Device;
import io.pushplanet.load.mqtt.MqttVersion;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Registered devices of a run, each with one channel. Their names begin with the run's name, so
/// that runs do not see each other's messages.
///
/// @param mqtt half of them speak MQTT 3.1.1, half 5.0
/// @param vendors those of the other channels
public record Population(List<Device> mqtt, Map<Channel, List<DeviceId>> vendors) {
  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(30);
  private static final int CONNECTIONS = 16;
  private static final int MAX_ATTEMPTS = 8;
  private static final long PAUSE_NANOS = Duration.ofMillis(20).toNanos();

  /// The minimum for Google's and Huawei's tokens; real ones have well over 100 characters.
  private static final int TOKEN_LENGTH = 140;

  public Population {
    mqtt = List.copyOf(mqtt);
    vendors = Map.copyOf(vendors);
  }

  /// Registers devices with the REST API, and before that browsers with the simulated push service.
  ///
  /// @param counts how many of each channel
  /// @throws IllegalStateException when one of them is refused
  public static Population register(Target target, String run, Map<Channel, Integer> counts) {
    List<Device> mqtt = List.of();
    Map<Channel, List<DeviceId>> vendors = new EnumMap<>(Channel.class);
    for (Channel channel : new TreeSet<>(counts.keySet())) {
      List<DeviceId> ids = ids(run + "-" + channel.word() + "-", counts.getOrDefault(channel, 0));
      if (channel == Channel.MQTT) {
        mqtt = inParallel(target, ids, Population::registerMqtt);
      } else {
        inParallel(
            target,
            ids,
            (connection, to, device) ->
                register(
                    connection, to, device, platform(channel), addressed(to, channel, device)));
        vendors.put(channel, ids);
      }
    }
    return new Population(mqtt, vendors);
  }

  private static String platform(Channel channel) {
    return switch (channel) {
      case MQTT -> "iot";
      case APNS -> "ios";
      case FCM, HMS -> "android";
      case WEBPUSH -> "web";
    };
  }

  /// The channel of a registration.
  private static String addressed(Target target, Channel channel, DeviceId device) {
    String address =
        switch (channel) {
          case MQTT -> "true";
          case APNS -> "{\"token\":\"" + hex(device) + "\",\"environment\":\"production\"}";
          case FCM, HMS -> "{\"token\":\"" + padded(device) + "\"}";
          case WEBPUSH ->
              HttpConnection.ask(target.simulatorsUrl(), "POST", "/webpush/subscriptions", "", "{}")
                  .text();
        };
    return "\"" + channel.word() + "\":" + address;
  }

  /// The devices of a vendor's channel.
  public List<DeviceId> of(Channel vendor) {
    return vendors.getOrDefault(vendor, List.of());
  }

  /// All devices, with evenly mixed channels.
  public List<DeviceId> shuffled() {
    List<List<DeviceId>> kinds = new ArrayList<>();
    kinds.add(mqtt.stream().map(Device::id).toList());
    for (Channel channel : Channel.values()) {
      kinds.add(of(channel));
    }
    int longest = kinds.stream().mapToInt(List::size).max().orElse(0);
    return IntStream.range(0, longest)
        .boxed()
        .flatMap(i ->
            kinds.stream()
                .flatMap(kind -> i < kind.size() ? Stream.of(kind.get(i)) : Stream.empty()))
        .toList();
  }

  private interface Registration<T> {
    T register(HttpConnection connection, Target target, DeviceId device) throws IOException;
  }

  private static <T> List<T> inParallel(
      Target target, List<DeviceId> devices, Registration<T> registration) {
    List<Future<List<T>>> parts = new ArrayList<>();
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      int share = Math.max(1, (devices.size() + CONNECTIONS - 1) / CONNECTIONS);
      for (int from = 0; from < devices.size(); from += share) {
        List<DeviceId> mine = devices.subList(from, Math.min(devices.size(), from + share));
        parts.add(
            executor.submit(() -> {
              List<T> registered = new ArrayList<>();
              try (var connection = new HttpConnection(target.dispatcherUrl(), ANSWER_WITHIN)) {
                for (DeviceId device : mine) {
                  registered.add(registration.register(connection, target, device));
                }
              }
              return registered;
            }));
      }
    }
    List<T> all = new ArrayList<>();
    for (Future<List<T>> part : parts) {
      try {
        all.addAll(part.get());
      } catch (ExecutionException e) {
        throw new IllegalStateException("cannot register devices: " + e.getCause(), e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted while registering devices", e);
      }
    }
    return all;
  }

  private static Device registerMqtt(HttpConnection connection, Target target, DeviceId device)
      throws IOException {
    HttpAnswer answer =
        register(
            connection,
            target,
            device,
            platform(Channel.MQTT),
            addressed(target, Channel.MQTT, device));
    String password =
        WireForm.mapper().readTree(answer.body()).path("mqtt").path("password").asString("");
    MqttVersion version = device.value().hashCode() % 2 == 0 ? MqttVersion.V5 : MqttVersion.V3_1_1;
    return new Device(target.app(), device, new Secret(password), version);
  }

  private static HttpAnswer register(
      HttpConnection connection, Target target, DeviceId device, String platform, String channel)
      throws IOException {
    String body = "{\"platform\":\"" + platform + "\",\"channels\":{" + channel + "}}";
    byte[] request =
        HttpConnection.request(
            "PUT",
            target.dispatcherUrl(),
            "/v1/apps/" + target.app().value() + "/devices/" + device.value(),
            target.apiKey().reveal(),
            body.getBytes(StandardCharsets.UTF_8));
    HttpAnswer answer = connection.exchange(request);
    // A registration can be repeated safely, as a 503 asks.
    for (int attempt = 1; answer.status() == 503 && attempt < MAX_ATTEMPTS; attempt++) {
      LockSupport.parkNanos(
          attempt * PAUSE_NANOS + ThreadLocalRandom.current().nextLong(PAUSE_NANOS));
      answer = connection.exchange(request);
    }
    if (answer.status() != 200 && answer.status() != 201) {
      throw new IOException(
          "registering " + device + " was answered with " + answer.status() + ": " + answer.text());
    }
    return answer;
  }

  private static List<DeviceId> ids(String prefix, int count) {
    return IntStream.range(0, count).mapToObj(i -> new DeviceId(prefix + i)).toList();
  }

  /// A token in the form of Apple's: the device's name in hexadecimal, at least 64 digits.
  private static String hex(DeviceId device) {
    StringBuilder token = new StringBuilder();
    for (byte letter : device.value().getBytes(StandardCharsets.US_ASCII)) {
      token.append(String.format("%02x", letter));
    }
    return token.length() >= 64 ? token.toString() : token + "0".repeat(64 - token.length());
  }

  private static String padded(DeviceId device) {
    return device.value() + "-" + "x".repeat(TOKEN_LENGTH - device.value().length() - 1);
  }
}
