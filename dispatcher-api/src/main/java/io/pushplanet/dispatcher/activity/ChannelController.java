package io.pushplanet.dispatcher.activity;

import io.pushplanet.common.access.Scope;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.target.ActivityChannelId;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.access.Caller;
import io.pushplanet.dispatcher.access.Needs;
import io.pushplanet.dispatcher.idempotency.Answer;
import io.pushplanet.dispatcher.idempotency.IdempotentRequests;
import io.pushplanet.dispatcher.input.Bodies;
import io.pushplanet.dispatcher.input.Fields;
import io.pushplanet.dispatcher.input.Findings;
import io.pushplanet.dispatcher.input.JsonBody;
import io.pushplanet.dispatcher.limit.AppBulkheads;
import io.pushplanet.dispatcher.message.Page;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.node.ObjectNode;

/// Broadcast channels for Live Activities. The answer contains only what is known so far: a worker
/// asks Apple, and the state says how far it has got.
@RestController
class ChannelController {
  private static final String CHANNELS = "/v1/apps/{app}/live-activity-channels";
  private static final String ONE = CHANNELS + "/{channel}";

  /// "you can maintain up to 10,000 channels for your app in the development and production
  /// environment, respectively"
  /// (https://developer.apple.com/documentation/usernotifications/sending-channel-management-requests-to-apns).
  static final int MAX = 10_000;

  enum Environment {
    PRODUCTION,
    SANDBOX
  }

  /// The newest message, or none: what Apple keeps for devices that are away.
  enum Keeps {
    NONE,
    NEWEST
  }

  private final ChannelMapper mapper;
  private final AppBulkheads reads;
  private final IdempotentRequests idempotency;
  private final Bodies bodies;
  private final Clock clock;

  ChannelController(
      ChannelMapper mapper,
      AppBulkheads reads,
      IdempotentRequests idempotency,
      Bodies bodies,
      Clock clock) {
    this.mapper = mapper;
    this.reads = reads;
    this.idempotency = idempotency;
    this.bodies = bodies;
    this.clock = clock;
  }

  @PostMapping(CHANNELS)
  @Needs(Scope.SEND)
  void make(Caller caller, HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    JsonBody body = bodies.json(caller.app(), request);
    Findings findings = new Findings();
    Fields fields = new Fields(body.root(), "", findings);
    Environment environment = fields.word("environment", Environment.class);
    Keeps keeps = fields.word("keeps", Keeps.class);
    fields.done();
    findings.refuse();
    idempotency
        .once(
            caller.app(),
            "live-activity-channels",
            request,
            body.bytes(),
            work ->
                reads.call(
                    caller.app(),
                    1,
                    () ->
                        made(
                            caller.app(),
                            ActivityChannelId.of(work.id()),
                            word(environment == null ? Environment.PRODUCTION : environment),
                            word(keeps == null ? Keeps.NEWEST : keeps))))
        .writeTo(response);
  }

  private Answer made(AppId app, ActivityChannelId channel, String environment, String keeps) {
    if (mapper.count(app.value(), environment, MAX) >= MAX) {
      throw ProblemException.of(
          ProblemCode.TOO_MANY_CHANNELS,
          String.format(
              Locale.ROOT,
              "This app has %,d channels in %s, and Apple takes no more. Delete those whose event is over.",
              MAX,
              environment));
    }
    mapper.insert(app.value(), channel.value(), environment, keeps, clock.instant());
    return new Answer(
        202,
        "/v1/apps/" + app + "/live-activity-channels/" + channel,
        new String(WireForm.write(form(found(app, channel.value()))), StandardCharsets.UTF_8));
  }

  @GetMapping(CHANNELS)
  @Needs(Scope.READ)
  ResponseEntity<byte[]> list(
      Caller caller,
      @RequestParam(name = "limit", required = false) @Nullable String limit,
      @RequestParam(name = "cursor", required = false) @Nullable String cursor) {
    Page page = Page.read(limit, cursor, Page.SortedBy.ACTIVITY_CHANNEL);
    String after = Optional.ofNullable(page.after()).orElse("");
    return ok(
        page.form(
            reads.call(
                caller.app(), 1, () -> mapper.after(caller.app().value(), after, page.limit() + 1)),
            ChannelController::form,
            ChannelMapper.Row::channelId));
  }

  @GetMapping(ONE)
  @Needs(Scope.READ)
  ResponseEntity<byte[]> get(Caller caller, @PathVariable("channel") String id) {
    return ok(form(reads.call(caller.app(), 1, () -> found(caller.app(), id))));
  }

  @DeleteMapping(ONE)
  @Needs(Scope.SEND)
  ResponseEntity<byte[]> delete(Caller caller, @PathVariable("channel") String id) {
    return reads.call(
        caller.app(),
        1,
        () -> {
          found(caller.app(), id);
          mapper.delete(caller.app().value(), id, clock.instant());
          return ResponseEntity.accepted().build();
        });
  }

  private ChannelMapper.Row found(AppId app, String id) {
    return Optional.of(id)
        .filter(ActivityChannelId::isValid)
        .flatMap(valid -> mapper.find(app.value(), valid))
        .orElseThrow(() ->
            ProblemException.of(
                ProblemCode.CHANNEL_NOT_FOUND, "There is no channel \"" + id + "\" in this app."));
  }

  private static ResponseEntity<byte[]> ok(ObjectNode form) {
    return ResponseEntity.ok().contentType(MediaType.APPLICATION_JSON).body(WireForm.write(form));
  }

  private static String word(Enum<?> one) {
    return one.name().toLowerCase(Locale.ROOT);
  }

  private static ObjectNode form(ChannelMapper.Row row) {
    ObjectNode form = WireForm.mapper().createObjectNode();
    form.put("channel", row.channelId());
    form.put("environment", row.environment());
    form.put("keeps", row.keeps());
    form.put("state", row.state());
    if (row.reason() != null) {
      form.put("reason", row.reason());
    }
    if (row.apnsId() != null) {
      form.put("apns_channel_id", row.apnsId());
    }
    form.put("created_at", row.createdAt().toString());
    if (row.readyAt() != null) {
      form.put("ready_at", row.readyAt().toString());
    }
    return form;
  }
}
