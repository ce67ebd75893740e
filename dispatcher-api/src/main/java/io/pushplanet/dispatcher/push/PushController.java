package io.pushplanet.dispatcher.push;

import io.pushplanet.common.access.Scope;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.access.Caller;
import io.pushplanet.dispatcher.access.Needs;
import io.pushplanet.dispatcher.idempotency.Answer;
import io.pushplanet.dispatcher.idempotency.IdempotentRequests;
import io.pushplanet.dispatcher.input.JsonBody;
import io.pushplanet.dispatcher.limit.SendLimits;
import io.pushplanet.dispatcher.problem.RequestId;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Where a message comes in. [PushDispatch] takes it from here.
@RestController
class PushController {
  /// https://www.w3.org/TR/trace-context/#traceparent-header
  private static final Pattern TRACEPARENT =
      Pattern.compile("[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}");

  private final PushDispatch dispatch;
  private final BatchSend batches;
  private final IdempotentRequests idempotency;
  private final SendLimits limits;
  private final MessageIds ids;

  PushController(
      PushDispatch dispatch,
      BatchSend batches,
      IdempotentRequests idempotency,
      SendLimits limits,
      MessageIds ids) {
    this.dispatch = dispatch;
    this.batches = batches;
    this.idempotency = idempotency;
    this.limits = limits;
    this.ids = ids;
  }

  @PostMapping("/v1/apps/{app}/messages")
  @Needs(Scope.SEND)
  void send(Caller caller, HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    JsonBody body = JsonBody.read(request);
    SendRequest wanted = SendRequestReader.read(body.root());
    limits.take(caller.app(), 1, response);
    once(
        caller,
        "messages",
        request,
        response,
        body,
        id -> {
          Receipt receipt = dispatch.send(caller.app(), wanted, id, traceparent(request));
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
    JsonBody body = JsonBody.read(request, JsonBody.MOST_BATCH_BYTES);
    List<JsonNode> messages = BatchSend.read(body.root());
    limits.take(caller.app(), messages.size(), response);
    once(
        caller,
        "batch",
        request,
        response,
        body,
        seed -> {
          BatchSend.Outcome outcome =
              batches.send(
                  caller.app(), messages, seed, traceparent(request), RequestId.of(request));
          return new Answer(
              outcome.allAccepted() ? 202 : 207, null, text(WireForm.write(outcome.body())));
        });
  }

  @PostMapping("/v1/apps/{app}/messages:validate")
  @Needs(Scope.SEND)
  ResponseEntity<byte[]> validate(Caller caller, HttpServletRequest request) throws IOException {
    SendRequest wanted = SendRequestReader.read(JsonBody.read(request).root());
    Receipt receipt = dispatch.prepare(caller.app(), wanted, ids.next(), null, Map.of()).receipt();
    ObjectNode form = WireForm.mapper().createObjectNode();
    form.put("valid", true);
    form.set("recipients", WireForm.mapper().valueToTree(receipt.recipients()));
    return ResponseEntity.ok().contentType(MediaType.APPLICATION_JSON).body(WireForm.write(form));
  }

  private void once(
      Caller caller,
      String operation,
      HttpServletRequest request,
      HttpServletResponse response,
      JsonBody body,
      Function<MessageId, Answer> work)
      throws IOException {
    String key = request.getHeader("Idempotency-Key");
    if (key == null) {
      write(work.apply(ids.next()), false, response);
      return;
    }
    IdempotentRequests.Given given =
        idempotency.once(caller.app(), operation, key, body.bytes(), work);
    write(given.answer(), given.replayed(), response);
  }

  /// By hand, because this is the one hot answer: Spring's way for a `ResponseEntity` negotiates what is fixed here.
  private static void write(Answer answer, boolean replayed, HttpServletResponse response)
      throws IOException {
    byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
    response.setStatus(answer.status());
    response.setContentType(MediaType.APPLICATION_JSON_VALUE);
    if (answer.location() != null) {
      response.setHeader("Location", answer.location());
    }
    if (replayed) {
      response.setHeader("Idempotency-Replayed", "true");
    }
    response.setContentLength(body.length);
    response.getOutputStream().write(body);
  }

  private static @Nullable String traceparent(HttpServletRequest request) {
    String given = request.getHeader("traceparent");
    return given != null && TRACEPARENT.matcher(given).matches() ? given : null;
  }

  private static String text(byte[] json) {
    return new String(json, StandardCharsets.UTF_8);
  }
}
