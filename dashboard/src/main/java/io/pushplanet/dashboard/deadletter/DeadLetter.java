package io.pushplanet.dashboard.deadletter;

import com.rabbitmq.client.GetResponse;
import io.pushplanet.common.access.Sha256;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.wire.WireForm;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Date;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/// A message in `push.dead`. Its body may contain private texts and the tokens of devices, and its
/// reason may quote the body. Therefore only admins see them in full, and only for one letter at a
/// time.
///
/// @param digest SHA-256 of queue and body, in hex; it names the letter, because the broker gives
///     it no name
/// @param queue the queue from which it is consumed; empty when unknown, and then it cannot be
///     replayed
/// @param buried to the second; null when unknown, as for letters that an older worker buried
/// @param message the push that it carries, if that can be read
/// @param opening the first [#SHOWN_BYTES] of its body as text
record DeadLetter(
    String digest,
    String queue,
    String reason,
    int bodyBytes,
    @Nullable Instant buried,
    Optional<MessageId> message,
    String opening) {
  static final int SHOWN_BYTES = 4_096;

  /// The queue of orders before each priority had its own.
  private static final String FORMER_FANOUT = "push.fanout";

  private static final Pattern DETAILS = Pattern.compile("[:'\"(]");
  private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cntrl}&&[^\n\t]]");

  static DeadLetter of(GetResponse letter) {
    Map<String, Object> headers = letter.getProps().getHeaders();
    String queue = header(headers, Topology.DEAD_QUEUE_HEADER);
    Date buried = letter.getProps().getTimestamp();
    return new DeadLetter(
        digest(queue, letter.getBody()),
        taken(queue),
        header(headers, Topology.DEAD_REASON_HEADER),
        letter.getBody().length,
        buried == null ? null : buried.toInstant(),
        message(letter.getBody()),
        opening(letter.getBody()));
  }

  /// The reason without the message of a JSON parser or the database, because both quote the text
  /// that they read.
  public String briefly() {
    return DETAILS.split(reason, 2)[0].strip();
  }

  public boolean isLongerThanShown() {
    return bodyBytes > SHOWN_BYTES;
  }

  public boolean isReplayable() {
    return !queue.isEmpty();
  }

  private static String taken(String queue) {
    if (queue.equals(FORMER_FANOUT)) {
      return Topology.fanout(Priority.NORMAL);
    }
    return Topology.queues().contains(queue) ? queue : "";
  }

  private static String header(Map<String, Object> headers, String name) {
    Object value = headers == null ? null : headers.get(name);
    return value == null ? "" : value.toString();
  }

  /// Bytes that are no text, or a character that is cut in two, become the replacement character.
  private static String opening(byte[] body) {
    String text = new String(body, 0, Math.min(body.length, SHOWN_BYTES), StandardCharsets.UTF_8);
    return UNPRINTABLE.matcher(text).replaceAll("\uFFFD");
  }

  private static String digest(String queue, byte[] body) {
    byte[] named = (queue + '\0').getBytes(StandardCharsets.UTF_8);
    return Sha256.hex(ByteBuffer.allocate(named.length + body.length).put(named).put(body).array());
  }

  /// A push has the id in `id`, an order in `push`, and an event in `message`. The items of a batch
  /// may belong to different messages.
  private static Optional<MessageId> message(byte[] body) {
    try {
      JsonNode letter = WireForm.mapper().readTree(body);
      JsonNode tree = letter.isArray() && letter.size() == 1 ? letter.get(0) : letter;
      for (String place : new String[] {"/id", "/push/id", "/message"}) {
        String text = tree.at(place).asString("");
        if (MessageId.isValid(text)) {
          return Optional.of(new MessageId(text));
        }
      }
      return Optional.empty();
    } catch (JacksonException rubbish) {
      return Optional.empty();
    }
  }
}
