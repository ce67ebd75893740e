package io.pushplanet.dispatcher.message;

import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.MessageState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.target.ActivityChannelId;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.limit.AppBulkheads;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// Messages and deliveries in the form of the API: from their rows, and before these are written,
/// from the accepted event.
@Component
class Messages {
  /// Sorts after every device id and message id.
  private static final String BEYOND = "~";

  /// How far the rows of messages may lag behind, while MySQL is away or the statistics role is
  /// slow. Nothing bounds this; a lag of a day is an outage that the operator knows of.
  private static final Duration ROWS_MAY_LAG = Duration.ofDays(1);

  /// The fields of a message that tell what its sender wrote.
  static final List<String> TEXTS = List.of("audience", "content", "delivery");

  private static final Duration SOON = Duration.ofSeconds(2);

  private static final JsonMapper MAPPER = WireForm.mapper();

  private final MessageMapper mapper;
  private final AppBulkheads reads;
  private final AcceptedMessages accepted;
  private final Clock clock;

  Messages(MessageMapper mapper, AppBulkheads reads, AcceptedMessages accepted, Clock clock) {
    this.mapper = mapper;
    this.reads = reads;
    this.accepted = accepted;
    this.clock = clock;
  }

  static ProblemException unknown(String id) {
    return ProblemException.of(
        ProblemCode.MESSAGE_NOT_FOUND, "There is no message \"" + id + "\" in this app.");
  }

  /// For a message that has no row and is not among the accepted ones. A young one may have been
  /// accepted all the same: while Redis was away, or longer ago than accepted messages are kept. If
  /// it were called unknown, its caller would send it once more.
  static ProblemException unknown(MessageId id, Instant now) {
    return Duration.between(id.time(), now).abs().compareTo(ROWS_MAY_LAG) > 0
        ? unknown(id.value())
        : ProblemException.retryable(
            ProblemCode.MESSAGE_NOT_KNOWN_YET,
            "No message \""
                + id
                + "\" of this app is known here. If it was accepted, it is not written yet: ask"
                + " again, and do not send it again.",
            SOON,
            null);
  }

  static ProblemException unknownDevice(String id) {
    return ProblemException.of(
        ProblemCode.DEVICE_NOT_FOUND, "There is no device \"" + id + "\" in this app.");
  }

  ObjectNode message(AppId app, MessageId id) {
    MessageMapper.MessageRow row = row(app, id);
    if (row == null) {
      return accepted
          .mustFind(app, id)
          .map(Messages::form)
          .orElseThrow(() -> unknown(id, clock.instant()));
    }
    ObjectNode form = form(row);
    if (row.audience().isEmpty()) {
      // Other events of the message were written before its acceptance.
      accepted.find(app, id).ifPresent(entry -> putTexts(form, entry));
    }
    return form;
  }

  ObjectNode deliveries(AppId app, MessageId id, @Nullable DeviceId device, Page page) {
    if (row(app, id) == null) {
      DeliveryEvent.Accepted entry =
          accepted.mustFind(app, id).orElseThrow(() -> unknown(id, clock.instant()));
      return page.form(
          queued(entry, device, page), Messages::form, MessageMapper.DeliveryRow::deviceId);
    }
    List<MessageMapper.DeliveryRow> rows =
        reads.call(
            app,
            1,
            () ->
                device == null
                    ? mapper.deliveries(
                        app.value(), id.day(), id.value(), after(page, ""), page.limit() + 1)
                    : mapper.delivery(app.value(), id.day(), id.value(), device.value()));
    return page.form(rows, Messages::form, MessageMapper.DeliveryRow::deviceId);
  }

  private MessageMapper.@Nullable MessageRow row(AppId app, MessageId id) {
    return reads.call(app, 1, () -> mapper.find(app.value(), id.day(), id.value()));
  }

  ObjectNode deliveriesOf(AppId app, DeviceId device, Page page) {
    List<MessageMapper.DeliveryRow> rows =
        reads.call(
            app,
            1,
            () ->
                mapper.deliveriesOf(
                    app.value(), device.value(), after(page, BEYOND), page.limit() + 1));
    if (rows.isEmpty()
        && page.after() == null
        && reads.call(app, 1, () -> mapper.countDevice(app.value(), device.value())) == 0) {
      throw unknownDevice(device.value());
    }
    return page.form(rows, Messages::form, MessageMapper.DeliveryRow::messageId);
  }

  private static String after(Page page, String start) {
    return Optional.ofNullable(page.after()).orElse(start);
  }

  /// A message that was just accepted for named devices is queued for each of them.
  private static List<MessageMapper.DeliveryRow> queued(
      DeliveryEvent.Accepted entry, @Nullable DeviceId device, Page page) {
    return entry.recipients().stream()
        .filter(one -> device == null || one.equals(device))
        .map(DeviceId::value)
        .filter(one -> one.compareTo(after(page, "")) > 0)
        .sorted()
        .limit(page.limit() + 1L)
        .map(one ->
            new MessageMapper.DeliveryRow(
                entry.message().value(),
                one,
                "queued",
                null,
                null,
                "[]",
                0,
                entry.at(),
                null,
                null,
                null))
        .toList();
  }

  private static ObjectNode form(MessageMapper.MessageRow row) {
    ObjectNode form = MAPPER.createObjectNode();
    form.put("id", row.id());
    form.put("state", row.state().word());
    form.put("accepted_at", row.acceptedAt().toString());
    form.put("expires_at", row.expiresAt().toString());
    putTime(form, "cancelled_at", row.cancelledAt());
    ObjectNode counts = form.putObject("counts");
    counts.put("recipients", row.recipients());
    counts.put("delivered", row.delivered());
    counts.put("failed", row.failed());
    counts.put("expired", row.expired());
    counts.put("queued", Math.max(0, row.recipients() - row.ended()));
    counts.put("cancelled", row.cancelled());
    counts.put("duplicates", row.duplicates());
    counts.put("opened", row.opened());
    if (!row.audience().isEmpty()) {
      form.set("audience", audience(audienceOf(row.audience())));
      form.set("content", content(row.content()));
      form.set("delivery", MAPPER.readTree(row.delivery()));
    }
    return form;
  }

  private static ObjectNode form(DeliveryEvent.Accepted entry) {
    ObjectNode form = MAPPER.createObjectNode();
    form.put("id", entry.message().value());
    form.put("state", MessageState.ACCEPTED.word());
    form.put("accepted_at", entry.at().toString());
    form.put("expires_at", entry.expiresAt().toString());
    putTime(form, "cancelled_at", null);
    Integer estimate = entry.estimate();
    int recipients = estimate == null ? entry.recipients().size() : estimate;
    ObjectNode counts = form.putObject("counts");
    counts.put("recipients", recipients);
    counts.put("delivered", 0);
    counts.put("failed", 0);
    counts.put("expired", 0);
    counts.put("queued", recipients);
    counts.put("cancelled", 0);
    counts.put("duplicates", 0);
    counts.put("opened", 0);
    putTexts(form, entry);
    return form;
  }

  private static void putTexts(ObjectNode form, DeliveryEvent.Accepted entry) {
    form.set("audience", audience(audienceOf(entry)));
    form.set("content", content(entry.content().text()));
    form.set("delivery", MAPPER.readTree(entry.delivery().text()));
  }

  /// As the caller wrote it.
  private static JsonNode content(String text) {
    JsonNode content = MAPPER.readTree(text);
    if (content instanceof ObjectNode object && object.path("data").isEmpty()) {
      object.remove("data");
    }
    return content;
  }

  private static Audience audienceOf(DeliveryEvent.Accepted entry) {
    return audienceOf(entry.audience().text());
  }

  private static Audience audienceOf(String text) {
    return WireForm.read(text.getBytes(StandardCharsets.UTF_8), Audience.class);
  }

  /// As the caller wrote it.
  private static ObjectNode audience(Audience audience) {
    ObjectNode form = MAPPER.createObjectNode();
    switch (audience) {
      case Audience.Devices(List<DeviceId> devices) -> {
        if (devices.size() == 1) {
          form.put("device", devices.getFirst().value());
        } else {
          form.set("devices", MAPPER.valueToTree(devices));
        }
      }
      case Audience.Users(List<String> users) -> {
        if (users.size() == 1) {
          form.put("user", users.getFirst());
        } else {
          form.set("users", MAPPER.valueToTree(users));
        }
      }
      case Audience.Topic(String topic) -> form.put("topic", topic);
      case Audience.Tag(String tag) -> form.put("tag", tag);
      case Audience.All() -> form.put("all", true);
      case Audience.ActivityChannel(ActivityChannelId channel) ->
          form.put("channel", channel.value());
      case Audience.FcmTopic(String topic) -> form.put("fcm_topic", topic);
      case Audience.FcmCondition(String condition) -> form.put("fcm_condition", condition);
      case Audience.And(List<Audience> parts) -> form.set("and", audiences(parts));
      case Audience.Or(List<Audience> parts) -> form.set("or", audiences(parts));
      case Audience.Not(Audience part) -> form.set("not", audience(part));
    }
    return form;
  }

  private static ArrayNode audiences(List<Audience> parts) {
    ArrayNode forms = MAPPER.createArrayNode();
    parts.forEach(part -> forms.add(audience(part)));
    return forms;
  }

  private static ObjectNode form(MessageMapper.DeliveryRow row) {
    ObjectNode form = MAPPER.createObjectNode();
    form.put("message", row.messageId());
    form.put("device", row.deviceId());
    form.put("state", row.state().toLowerCase(Locale.ROOT));
    form.put("channel", row.channel());
    form.put("reason", row.reason());
    form.set("attempts", MAPPER.readTree(row.attempts()));
    form.put("duplicates", row.duplicates());
    form.put("queued_at", row.queuedAt().toString());
    putTime(form, "finished_at", row.finishedAt());
    putTime(form, "displayed_at", row.displayedAt());
    putTime(form, "opened_at", row.openedAt());
    return form;
  }

  private static void putTime(ObjectNode form, String name, @Nullable Instant time) {
    form.put(name, time == null ? null : time.toString());
  }
}
