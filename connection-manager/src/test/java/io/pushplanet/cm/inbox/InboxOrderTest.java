package io.pushplanet.cm.inbox;

import static io.pushplanet.cm.session.SessionBuilder.aSession;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.OutboundMessage;
import io.pushplanet.cm.session.RecordedOrigin;
import io.pushplanet.cm.session.SessionBuilder;
import io.pushplanet.cm.session.Settlement;
import io.pushplanet.cm.session.SharedPublish;
import io.pushplanet.cm.session.Subscription;
import io.pushplanet.cm.transport.HandLoop;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.MutableClock;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// The order in which a device gets the messages of its inbox and fresh ones. Messages are numbers.
class InboxOrderTest {
  private static final DeviceKey DEVICE = new DeviceKey(new AppId("shop"), new DeviceId("d1"));
  private static final int WINDOW = 16;
  private static final int PAGE = 100;

  private final MutableClock clock = MutableClock.started();
  private final HandLoop loop = new HandLoop();
  private final DrainedClient client = new DrainedClient(loop);
  private final Rows inbox = new Rows();
  private final List<Settlement> settled = new ArrayList<>();
  private final DeviceSession session =
      aSession(DEVICE).window(WINDOW).at(client, SessionBuilder.shared(clock));
  private final InboxDrain drain = client.drain(inbox, session);
  private int acknowledged;

  @Test
  void a_fresh_message_waits_for_the_inbox() {
    inbox.park(0, 3);
    subscribe();
    offer(900);
    inbox.answer();
    offer(901);

    assertThat(sent()).containsExactly(0, 1, 2, 900, 901);
  }

  @Test
  void and_for_its_last_page() {
    inbox.park(0, PAGE + 3);
    subscribe();
    inbox.answer();
    acknowledge(PAGE - 1);
    offer(900);
    acknowledge(1);
    inbox.answer();

    assertThat(sent()).endsWith(PAGE - 1, PAGE, PAGE + 1, PAGE + 2, 900);
  }

  @Test
  void a_device_that_did_not_respond_for_long_gets_the_rest_of_its_page_in_order() {
    inbox.park(0, PAGE);
    subscribe();
    inbox.answer();
    sweepAfter(Duration.ofSeconds(61));
    acknowledge(PAGE);
    inbox.answer();
    acknowledge(PAGE);

    assertThat(sent()).containsExactlyElementsOf(IntStream.range(0, PAGE).boxed().toList());
    assertThat(inbox.parked).isEmpty();
  }

  @Test
  void a_message_parked_for_want_of_room_comes_after_older_waiting_ones() {
    subscribe();
    inbox.answer();
    IntStream.range(0, WINDOW + 2).forEach(this::offer);
    inbox.park(WINDOW + 2, WINDOW + 3);
    drain.wanted();
    inbox.answer();
    acknowledge(WINDOW);

    assertThat(sent()).containsExactlyElementsOf(IntStream.range(0, WINDOW + 3).boxed().toList());
  }

  @Test
  void rows_behind_broadcasts_that_are_read_again_do_not_pass_them() {
    inbox.park(0, WINDOW + 3);
    inbox.broadcasts.add(WINDOW);
    inbox.expiresAtMillis.put(WINDOW, clock.millis() + 1);
    inbox.broadcasts.add(WINDOW + 1);
    subscribe();
    inbox.answer();
    clock.advance(Duration.ofSeconds(1));
    inbox.expired.add(WINDOW);
    acknowledge(WINDOW);
    inbox.answer();
    loop.turn();
    acknowledge(1);

    assertThat(sent()).endsWith(WINDOW - 1, WINDOW + 1, WINDOW + 2);
  }

  @Test
  void broadcasts_whose_lists_were_parked_out_of_order_come_by_age_and_once() {
    inbox.park(3, 4);
    inbox.broadcasts.addAll(List.of(2, 1));
    inbox.expiresAtMillis.put(2, clock.millis() + 1);
    subscribe();
    inbox.answer();
    clock.advance(Duration.ofSeconds(1));
    inbox.expired.add(2);
    acknowledge(1);
    assertThat(inbox.position).as("the first list's end is not told yet").isZero();
    inbox.answer();
    loop.turn();
    acknowledge(1);

    assertThat(sent()).containsExactly(1, 3);
    assertThat(inbox.position).isEqualTo(2);
    assertThat(drain.isIdle()).isTrue();
  }

  @Test
  void a_row_that_was_parked_late_comes_before_newer_fresh_messages() {
    inbox.broadcasts.addAll(List.of(800, 700));
    inbox.park(650, 651);
    inbox.park(750, 751);
    subscribe();
    offer(720);
    inbox.answer();
    acknowledge(5);

    assertThat(sent()).containsExactly(650, 700, 720, 750, 800);
  }

  @Test
  void no_message_waits_for_an_unreadable_inbox() {
    subscribe();
    offer(900);
    assertThat(sent()).isEmpty();
    inbox.away();
    offer(901);

    assertThat(sent()).containsExactly(900, 901);
  }

  @Test
  void nor_where_it_does_not_move() {
    inbox.park(0, 1);
    subscribe();
    inbox.answer();
    drain.wanted();
    offer(900);
    for (int second = 1; second < 5; second++) {
      sweepAfter(Duration.ofSeconds(1));
    }
    assertThat(sent()).as("the next page may come yet").containsExactly(0);
    sweepAfter(Duration.ofSeconds(1));

    assertThat(sent()).containsExactly(0, 900);
  }

  @Test
  void an_empty_inbox_holds_up_nothing_once_it_is_known_to_be_empty() {
    subscribe();
    inbox.answer();
    offer(900);

    assertThat(sent()).containsExactly(900);
  }

  @Test
  void messages_that_wait_for_the_inbox_go_back_when_the_device_is_sent_away() {
    inbox.park(0, 3);
    subscribe();
    offer(900);
    session.leave(ReasonCode.SERVER_SHUTTING_DOWN, MqttProperties.NONE, 1);
    inbox.answer();

    assertThat(settled).containsExactly(new Settlement.NotHere());
    assertThat(sent()).isEmpty();
  }

  @Test
  void a_message_that_is_parked_and_comes_again_is_sent_once() {
    inbox.park(7, 8);
    subscribe();
    offer(7);
    inbox.answer();
    acknowledge(1);

    assertThat(sent()).containsExactly(7);
    assertThat(settled).singleElement().isInstanceOf(Settlement.Delivered.class);
  }

  private void subscribe() {
    session.subscribe(Subscription.of(QoS.AT_LEAST_ONCE, 0));
  }

  private void offer(int number) {
    session.offer(
        new OutboundMessage(
            new SharedPublish(id(number), payload(number), Long.MAX_VALUE),
            OutboundMessage.NO_DEADLINE,
            new RecordedOrigin(settled)));
  }

  private void acknowledge(int packets) {
    for (int left = packets; left > 0 && acknowledged < client.sent.size(); left--) {
      session.acknowledged(client.packetIds().get(acknowledged++), ReasonCode.SUCCESS);
      loop.turn();
    }
  }

  private void sweepAfter(Duration passed) {
    loop.nowNanos += passed.toNanos();
    session.swept(loop.nowNanos);
    drain.swept(loop.nowNanos);
    loop.turn();
  }

  private List<Integer> sent() {
    return client.sent.stream()
        .map(packet -> Arrays.copyOfRange(packet, packet.length - 3, packet.length))
        .map(payload -> Integer.valueOf(new String(payload, StandardCharsets.UTF_8)))
        .toList();
  }

  private static MessageId id(int number) {
    return new MessageId(String.format(Locale.ROOT, "0190b8a0-0000-7000-8000-%012d", number));
  }

  private static Binary payload(int number) {
    return Binary.of(String.format(Locale.ROOT, "%03d", number));
  }

  /// Answers when the test says so.
  private static final class Rows implements ParkedMessages {
    private final TreeSet<Integer> parked = new TreeSet<>();

    /// In the order of their lists.
    private final List<Integer> broadcasts = new ArrayList<>();

    private long position;
    private final Set<Integer> expired = new HashSet<>();
    private final Map<Integer, Long> expiresAtMillis = new HashMap<>();
    private final Queue<Consumer<InboxPage>> asked = new ArrayDeque<>();

    void park(int from, int to) {
      IntStream.range(from, to).forEach(parked::add);
    }

    void answer() {
      var rows = parked.stream().filter(number -> !broadcasts.contains(number)).toList();
      var owed = broadcasts.stream().map(this::row).filter(row -> row.seq() > position).toList();
      var page = rows.stream().limit(PAGE).map(this::row).toList();
      // Null when the inbox was not asked.
      Optional.ofNullable(asked.poll())
          .orElse(_ -> {})
          .accept(new InboxPage.Rows(page, rows.size() > PAGE).with(owed));
    }

    void away() {
      asked.remove().accept(new InboxPage.Unreadable());
    }

    private InboxRow row(int number) {
      long seq = broadcasts.indexOf(number) + 1L;
      return new InboxRow(
          DEVICE,
          id(number).value(),
          id(number),
          payload(number),
          expiresAtMillis.getOrDefault(number, Long.MAX_VALUE),
          seq,
          seq,
          expired.contains(number) ? InboxRow.Fate.EXPIRED : InboxRow.Fate.DUE);
    }

    @Override
    public void read(DeviceKey device, Loop loop, Consumer<InboxPage> then) {
      asked.add(then);
    }

    @Override
    public void written(long tookNanos) {}

    @Override
    public void delivered(InboxRow row, @Nullable Instant lateAt, Then then) {
      parked.removeIf(number -> id(number).equals(row.message()));
      position = Math.max(position, row.position());
      then.done(true);
    }

    @Override
    public void failed(InboxRow row, Settlement.Refused why, Then then) {
      throw new AssertionError(why);
    }

    @Override
    public void over(InboxRow row, Then then) {
      delivered(row, null, then);
    }
  }
}
