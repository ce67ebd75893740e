package io.pushplanet.dispatcher.push;

import io.pushplanet.common.access.Sha256;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.audience.AudienceResolver.LookUp;
import io.pushplanet.dispatcher.idempotency.Work;
import io.pushplanet.dispatcher.input.Fields;
import io.pushplanet.dispatcher.input.Findings;
import io.pushplanet.dispatcher.problem.FieldError;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// Sends up to [#MAX] different messages of one request. A faulty message is reported in its place
/// and does not affect the others. The valid ones are looked up together, and published in
/// [Slices].
@Component
class BatchSend {
  static final int MAX = 1_000;

  /// More errors of one message are not reported: the answer could be many times as long as the
  /// request.
  private static final int MAX_ERRORS = 10;

  private final PushDispatch dispatch;
  private final MemoryLimits memoryLimits;

  BatchSend(PushDispatch dispatch, MemoryLimits memoryLimits) {
    this.dispatch = dispatch;
    this.memoryLimits = memoryLimits;
  }

  /// @param allAccepted whether the answer is 202 rather than 207
  record Outcome(ObjectNode body, boolean allAccepted) {}

  /// @return the messages of the request, unread
  static List<JsonNode> read(ObjectNode body) {
    Findings findings = new Findings();
    Fields request = new Fields(body, "", findings);
    JsonNode messages = request.value("messages");
    request.done();
    String fault = fault(messages);
    if (fault != null) {
      request.wrong("messages", fault, "messages is a list of 1 to 1,000 messages");
    } else if (messages != null && messages.size() > MAX) {
      request.wrong(
          "messages", "too_many", "messages has " + messages.size() + " entries; at most 1,000");
    }
    findings.refuse();
    return messages == null ? List.of() : messages.valueStream().toList();
  }

  private static @Nullable String fault(@Nullable JsonNode messages) {
    if (messages == null) {
      return "required";
    }
    if (!messages.isArray()) {
      return "not_a_list";
    }
    return messages.isEmpty() ? "empty" : null;
  }

  /// @param work gets a sign around each step that may take long; the ids of the messages are
  ///     derived from its id
  Outcome send(
      AppId app,
      List<JsonNode> messages,
      Work work,
      @Nullable String traceparent,
      String requestId) {
    ArrayNode results = WireForm.mapper().createArrayNode();
    Map<Integer, SendRequest> wanted = new LinkedHashMap<>();
    for (int i = 0; i < messages.size(); i++) {
      int index = i;
      ObjectNode result = results.addObject();
      result.put("index", index);
      step(
          result,
          requestId,
          () -> wanted.put(index, SendRequestReader.read(object(messages.get(index)))));
    }
    LookUp lookUp = dispatch.beginLookUp(app, wanted.values());
    Slices slices = new Slices(dispatch::publish, work::goesOn);
    wanted.forEach((index, request) -> {
      ObjectNode result = (ObjectNode) results.get(index);
      step(
          result,
          requestId,
          () -> {
            Receipt receipt =
                memoryLimits.forDevices(
                    app,
                    request.audience(),
                    () -> {
                      work.goesOn();
                      PushDispatch.Prepared one =
                          dispatch.prepare(
                              app, request, messageId(work.id(), index), traceparent, lookUp);
                      slices.add(one);
                      return one.receipt();
                    });
            result.put("status", 202);
            result.setAll((ObjectNode) WireForm.mapper().valueToTree(receipt));
          });
    });
    slices.end();
    ObjectNode body = WireForm.mapper().createObjectNode();
    body.set("results", results);
    return new Outcome(body, slices.count() == messages.size());
  }

  /// Reports the fault of one message in its place, with pointers into that message, as if it had
  /// come alone.
  private static void step(ObjectNode result, String requestId, Runnable step) {
    try {
      step.run();
    } catch (ProblemException e) {
      if (e.code().status() >= 500) {
        throw e;
      }
      result.put("status", e.code().status());
      result.set(
          "problem", WireForm.mapper().valueToTree(e.withErrors(MAX_ERRORS).problem(requestId)));
    }
  }

  private static ObjectNode object(JsonNode message) {
    if (message instanceof ObjectNode object) {
      return object;
    }
    String detail = "a message is a JSON object";
    throw ProblemException.of(
        ProblemCode.INVALID_REQUEST, detail, List.of(new FieldError("", "not_an_object", detail)));
  }

  /// The same seed gives the same ids, so that a repeated batch repeats the ids of its messages.
  /// The ids sort in the order of the batch.
  static MessageId messageId(MessageId seed, int index) {
    byte[] hash = Sha256.of(seed.value() + "/" + index);
    return MessageIds.after(seed, index, ByteBuffer.wrap(hash).getLong());
  }
}
