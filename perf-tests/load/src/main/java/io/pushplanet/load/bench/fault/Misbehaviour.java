package io.pushplanet.load.bench.fault;

import io.pushplanet.common.delivery.Channel;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/// A provider's misbehaviour with one request.
///
/// @param fates in the simulators' words
/// @param takenEach how many notifications one such fault may duplicate: 1 where the provider
///     accepts it without an answer
record Misbehaviour(String name, Map<Channel, String> fates, int takenEach) {
  static final List<Channel> PROVIDERS =
      List.of(Channel.APNS, Channel.FCM, Channel.HMS, Channel.WEBPUSH);

  static final List<Misbehaviour> ALL =
      List.of(
          everywhere("goaway", "goaway Shutdown", 0),
          everywhere("refused-stream", "refuse", 0),
          everywhere("reset", "reset", 0),
          everywhere("silence", "silence", 0),
          everywhere("cut", "drop", 0),
          answer(
              "server-error",
              "answer 500 InternalServerError",
              "answer 500 INTERNAL",
              "answer 500 81000001",
              "answer 500"),
          answer(
              "unavailable",
              "answer 503 ServiceUnavailable",
              "answer 503 UNAVAILABLE retry-after 1s",
              "answer 503 retry-after 1s",
              "answer 503 retry-after 1s"),
          answer(
              "too-many-requests",
              "answer 429 TooManyRequests",
              "answer 429 QUOTA_EXCEEDED retry-after 1s",
              "answer 429 retry-after 1s",
              "answer 429 retry-after 1s"),
          answer(
              "pieces",
              "trickle 1s 503 ServiceUnavailable",
              "trickle 1s 503 UNAVAILABLE",
              "trickle 1s 503",
              "trickle 1s 503"),
          everywhere("html", "html 502", 0),
          everywhere("slow", "answer delay 2s", 0),
          everywhere("taken-then-silence", "silence delivered", 1),
          everywhere("taken-then-reset", "reset delivered", 1));

  Misbehaviour {
    fates = Map.copyOf(fates);
  }

  /// The same for all providers.
  private static Misbehaviour everywhere(String name, String fate, int takenEach) {
    return new Misbehaviour(
        name,
        PROVIDERS.stream().collect(Collectors.toMap(provider -> provider, _ -> fate)),
        takenEach);
  }

  /// An answer that each provider gives in its own words.
  private static Misbehaviour answer(
      String name, String apns, String fcm, String hms, String webpush) {
    return new Misbehaviour(
        name,
        Map.of(Channel.APNS, apns, Channel.FCM, fcm, Channel.HMS, hms, Channel.WEBPUSH, webpush),
        0);
  }

  /// The lines that make each of these providers do it once.
  String scenario(List<Channel> providers) {
    return providers.stream()
        .map(provider -> provider.word() + " next 1 " + fates.get(provider))
        .collect(Collectors.joining("\n"));
  }
}
