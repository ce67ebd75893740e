package io.pushplanet.gateway.fcm;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.Overrides;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.Urgency;
import io.pushplanet.common.message.target.FcmToken;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.gateway.connection.ProviderRequest;
import io.pushplanet.gateway.connection.ProviderRequest.Field;
import io.pushplanet.gateway.provider.RecentPayloads;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.LongFunction;

/// Requests to FCM as the gateway makes them, for `./pushplanet bench fcm`.
public final class FcmRequests {
  /// Our sender, to FCM, each request with a message of its own.
  public static final String NAME = "fcm";

  /// Our sender, to FCM, all requests of one message.
  public static final String TO_ALL = "fcm-to-all";

  /// As long as Google's are.
  private static final String AUTHORIZATION = "Bearer " + "t".repeat(220);

  private static final Instant ACCEPTED = Instant.parse("2026-11-21T12:00:00Z");
  private static final MessageId ID = new MessageId("019aa64c-8000-7000-8000-000000000001");
  private static final DeviceId DEVICE = new DeviceId("d1");

  private FcmRequests() {}

  public static ProviderRequest request(long n) {
    return request(n, push -> FcmMessage.of(push, ACCEPTED));
  }

  public static LongFunction<ProviderRequest> toAll() {
    RecentPayloads<FcmMessage.MadeOf, FcmMessage> recent = new RecentPayloads<>();
    return n -> request(n, push -> FcmMessage.of(push, ACCEPTED, recent));
  }

  private static ProviderRequest request(long n, Function<Push, FcmMessage> write) {
    FcmToken token = new FcmToken("x".repeat(142) + n, "token", ACCEPTED);
    return new ProviderRequest(
        Priority.NORMAL,
        "/v1/projects/shop/messages:send",
        List.of(Field.secret("authorization", AUTHORIZATION)),
        write.apply(push(token)).to(token),
        null);
  }

  private static Push push(FcmToken token) {
    return Push.accepted(
            ID,
            new AppId("shop"),
            new Content("Shipped", "x".repeat(700), Map.of("order", "77")),
            new DeliveryOptions(
                Route.VENDOR, Duration.ofHours(1), Urgency.NORMAL, null, Duration.ofSeconds(5)),
            Overrides.NONE,
            ACCEPTED,
            null)
        .to(List.of(new Recipient(DEVICE, false, null, token, null, null, null)));
  }
}
