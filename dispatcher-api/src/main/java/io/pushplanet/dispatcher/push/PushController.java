package io.pushplanet.dispatcher.push;

import io.pushplanet.common.access.Scope;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.access.Caller;
import io.pushplanet.dispatcher.access.Needs;
import io.pushplanet.dispatcher.idempotency.Answer;
import io.pushplanet.dispatcher.idempotency.IdempotentRequests;
import io.pushplanet.dispatcher.idempotency.IdempotentRequests.Given;
import io.pushplanet.dispatcher.input.Bodies;
import io.pushplanet.dispatcher.input.JsonBody;
import io.pushplanet.dispatcher.limit.SendLimits;
import io.pushplanet.dispatcher.problem.ProblemException;
import io.pushplanet.dispatcher.problem.RequestId;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.JsonNode;

/// The operations that send messages. [PushDispatch] takes each message from here.
@RestController
class PushController {
  /// https://www.w3.org/TR/trace-context/#traceparent-header
  private static final Pattern TRACEPARENT =
      Pattern.compile("[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}");

  // The operations of Idempotency-Keys.
  private static final String MESSAGES = "messages";
  private static final String BATCH = "batch";

  private final PushDispatch dispatch;
  private final BatchSend batches;
  private final IdempotentRequests idempotency;
  private final Bodies bodies;
  private final MemoryLimits memoryLimits;
  private final SendLimits rateLimits;
  private final MessageIds ids;

  PushController(
      PushDispatch dispatch,
      BatchSend batches,
      IdempotentRequests idempotency,
      Bodies bodies,
      MemoryLimits memoryLimits,
      SendLimits rateLimits,
      MessageIds ids) {
    this.dispatch = dispatch;
    this.batches = batches;
    this.idempotency = idempotency;
    this.bodies = bodies;
    this.memoryLimits = memoryLimits;
    this.rateLimits = rateLimits;
    this.ids = ids;
  }

  @PostMapping("/v1/apps/{app}/messages")
  @Needs(Scope.SEND)
  void send(Caller caller, HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    byte[] bytes = bodies.bytes(caller.app(), request, Bodies.MAX_MESSAGE_BYTES);
    memoryLimits
        .forBody(
            caller.app(),
            bytes.length,
            () -> sendMessage(caller, request, JsonBody.of(bytes), response))
        .writeTo(response);
  }

  private Given sendMessage(
      Caller caller, HttpServletRequest request, JsonBody body, HttpServletResponse response) {
    SendRequest wanted = SendRequestReader.read(body.root());
    return withinLimit(
        caller.app(),
        1,
        response,
        () -> idempotency.before(caller.app(), MESSAGES, request, body.bytes()),
        () ->
            memoryLimits.forDevices(
                caller.app(),
                wanted.audience(),
                () -> dispatchOnce(caller, request, body, wanted)));
  }

  /// A repeat that gets the answer of before sends nothing: it is not refused, and does not count.
  ///
  /// @param before the answer of before, if there is one
  private Given withinLimit(
      AppId app,
      int messages,
      HttpServletResponse response,
      Supplier<Optional<Given>> before,
      Supplier<Given> sending) {
    try {
      rateLimits.take(app, messages, response);
    } catch (ProblemException limited) {
      return before.get().orElseThrow(() -> limited);
    }
    Given given = sending.get();
    if (given.replayed()) {
      rateLimits.giveBack(app, messages, response);
    }
    return given;
  }

  private Given dispatchOnce(
      Caller caller, HttpServletRequest request, JsonBody body, SendRequest wanted) {
    return idempotency.once(
        caller.app(),
        MESSAGES,
        request,
        body.bytes(),
        work -> {
          Receipt receipt = dispatch.send(caller.app(), wanted, work, traceparent(request));
          return new Answer(
              202,
              "/v1/apps/" + caller.app() + "/messages/" + receipt.id(),
              text(WireForm.write(receipt)));
        });
  }

  @PostMapping("/v1/apps/{app}/messages:batch")
  @Needs(Scope.SEND)
  void sendBatch(Caller caller, HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    byte[] bytes = bodies.bytes(caller.app(), request, Bodies.MAX_MESSAGE_BYTES);
    memoryLimits
        .forBatch(
            caller.app(),
            bytes.length,
            () -> sendMessages(caller, request, JsonBody.of(bytes), response))
        .writeTo(response);
  }

  private Given sendMessages(
      Caller caller, HttpServletRequest request, JsonBody body, HttpServletResponse response) {
    List<JsonNode> messages = BatchSend.read(body.root());
    return withinLimit(
        caller.app(),
        messages.size(),
        response,
        () -> idempotency.before(caller.app(), BATCH, request, body.bytes()),
        () -> dispatchAllOnce(caller, request, body, messages));
  }

  private Given dispatchAllOnce(
      Caller caller, HttpServletRequest request, JsonBody body, List<JsonNode> messages) {
    return idempotency.once(
        caller.app(),
        BATCH,
        request,
        body.bytes(),
        work -> {
          BatchSend.Outcome outcome =
              batches.send(
                  caller.app(), messages, work, traceparent(request), RequestId.of(request));
          return new Answer(
              outcome.allAccepted() ? 202 : 207, null, text(WireForm.write(outcome.body())));
        });
  }

  @PostMapping("/v1/apps/{app}/messages:validate")
  @Needs(Scope.SEND)
  ResponseEntity<byte[]> validate(Caller caller, HttpServletRequest request) throws IOException {
    byte[] bytes = bodies.bytes(caller.app(), request, Bodies.MAX_MESSAGE_BYTES);
    Validation validation =
        memoryLimits.forBody(
            caller.app(), bytes.length, () -> validated(caller, JsonBody.of(bytes)));
    return ResponseEntity.ok()
        .contentType(MediaType.APPLICATION_JSON)
        .body(WireForm.write(validation));
  }

  private Validation validated(Caller caller, JsonBody body) {
    SendRequest wanted = SendRequestReader.read(body.root());
    return memoryLimits.forDevices(
        caller.app(), wanted.audience(), () -> dispatch.validate(caller.app(), wanted, ids.next()));
  }

  private static @Nullable String traceparent(HttpServletRequest request) {
    String given = request.getHeader("traceparent");
    return given != null && TRACEPARENT.matcher(given).matches() ? given : null;
  }

  private static String text(byte[] json) {
    return new String(json, StandardCharsets.UTF_8);
  }
}
