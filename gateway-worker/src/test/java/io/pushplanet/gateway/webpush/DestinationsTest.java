package io.pushplanet.gateway.webpush;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.gateway.connection.Names.NameService;
import io.pushplanet.gateway.webpush.Destinations.Destination;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class DestinationsTest {
  private static final InetAddress PUBLIC = InetAddress.ofLiteral("8.8.8.8");
  private static final InetAddress OTHER = InetAddress.ofLiteral("8.8.4.4");
  private static final InetAddress PRIVATE = InetAddress.ofLiteral("10.0.0.1");

  private static final AppId SHOP = new AppId("shop");

  private final AtomicLong ticks = new AtomicLong();

  private Destinations destinations(List<String> allowed, NameService names, String... trusted) {
    return destinations(Duration.ofSeconds(30), allowed, names, trusted);
  }

  private Destinations destinations(
      Duration deadline, List<String> allowed, NameService names, String... trusted) {
    return new Destinations(
        new WebPushSettings(
            allowed,
            Arrays.stream(trusted).map(URI::create).toList(),
            null,
            1,
            1,
            deadline,
            Duration.ofSeconds(30),
            Duration.ofSeconds(30)),
        names,
        ticks::get);
  }

  private static Destination of(Destinations destinations, String endpoint) {
    return destinations.find(SHOP, Browsers.at(endpoint));
  }

  @Test
  void a_public_host_is_asked_at_the_address_that_was_looked_at() {
    try (var all = destinations(List.of(), _ -> new InetAddress[] {PUBLIC})) {
      assertThat(of(all, "https://a.net/x")).isEqualTo(new Destination.Allowed(List.of(PUBLIC)));
    }
  }

  @Test
  void a_host_with_one_private_address_among_public_ones_is_refused() {
    try (var all = destinations(List.of(), _ -> new InetAddress[] {PUBLIC, PRIVATE})) {
      assertThat(of(all, "https://a.net/x")).isEqualTo(new Destination.Refused("private_address"));
    }
  }

  @Test
  void a_name_that_turns_private_after_the_first_look_leads_nowhere_private() {
    AtomicInteger asked = new AtomicInteger();
    try (var all =
        destinations(
            List.of(), _ -> new InetAddress[] {asked.incrementAndGet() == 1 ? PUBLIC : PRIVATE})) {
      for (int i = 0; i < 10; i++) {
        assertThat(of(all, "https://rebind.net/x"))
            .isEqualTo(new Destination.Allowed(List.of(PUBLIC)));
      }
    }
  }

  @Test
  void numbers_that_browsers_read_as_addresses_are_looked_at_too() {
    try (var all = destinations(List.of(), InetAddress::getAllByName)) {
      for (String host : List.of("127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "169.254.169.254")) {
        assertThat(of(all, "https://" + host + "/x"))
            .as(host)
            .isEqualTo(new Destination.Refused("private_address"));
      }
    }
  }

  @Test
  void only_the_very_origin_that_is_trusted_may_be_private() {
    try (var all =
        destinations(List.of(), _ -> new InetAddress[] {PRIVATE}, "https://localhost:8443")) {
      assertThat(of(all, "https://LOCALHOST:8443/x"))
          .isEqualTo(new Destination.Allowed(List.of(PRIVATE)));
      assertThat(of(all, "https://localhost/x")).isInstanceOf(Destination.Refused.class);
      assertThat(of(all, "https://localhost.:8443/x")).isInstanceOf(Destination.Refused.class);
    }
  }

  @Test
  void where_hosts_are_listed_no_other_is_looked_up() {
    try (var listed =
        destinations(
            List.of("push.example.com", "*.push.apple.com"),
            host -> {
              if (host.equals("other.net")) {
                throw new UnknownHostException(host);
              }
              return new InetAddress[] {PUBLIC};
            })) {
      assertThat(of(listed, "https://push.example.com/x")).isInstanceOf(Destination.Allowed.class);
      assertThat(of(listed, "https://web.push.apple.com/x"))
          .isInstanceOf(Destination.Allowed.class);
      for (String host :
          List.of("other.net", "push.apple.com", "evilpush.apple.com", "a.push.example.com")) {
        assertThat(of(listed, "https://" + host + "/x"))
            .as(host)
            .isEqualTo(new Destination.Refused("host_not_allowed"));
      }
    }
  }

  @Test
  void all_addresses_of_a_host_are_there_to_be_tried() {
    try (var all = destinations(List.of(), _ -> new InetAddress[] {PUBLIC, OTHER})) {
      assertThat(of(all, "https://a.net/x"))
          .isEqualTo(new Destination.Allowed(List.of(PUBLIC, OTHER)));
    }
  }

  @Test
  void a_name_without_an_address_is_looked_up_again() {
    AtomicInteger asked = new AtomicInteger();
    try (var all =
        destinations(
            List.of(),
            host -> {
              if (asked.incrementAndGet() == 1) {
                throw new UnknownHostException(host);
              }
              return new InetAddress[] {PUBLIC};
            })) {
      assertThat(of(all, "https://a.net/x")).isEqualTo(new Destination.Unknown("unknown_host"));
      Eventually.within(
          Duration.ofSeconds(15),
          () -> assertThat(of(all, "https://a.net/x")).isInstanceOf(Destination.Allowed.class));
    }
  }

  @Test
  void a_silent_name_server_delays_no_send_beyond_the_deadline() {
    CountDownLatch never = new CountDownLatch(1);
    try (var all =
        destinations(
            Duration.ofSeconds(1),
            List.of(),
            host -> {
              awaitQuietly(never);
              throw new UnknownHostException(host);
            })) {
      assertThat(of(all, "https://a.net/x")).isEqualTo(new Destination.Unknown("lookup_timeout"));
    }
  }

  @Test
  void a_known_host_keeps_its_address_while_look_ups_hang() throws Exception {
    CountDownLatch all = new CountDownLatch(Destinations.LOOKUPS);
    CountDownLatch never = new CountDownLatch(1);
    AtomicInteger moved = new AtomicInteger();
    try (var destinations =
            destinations(
                List.of(),
                host -> {
                  if (host.startsWith("dead")) {
                    all.countDown();
                    awaitQuietly(never);
                  }
                  return new InetAddress[] {moved.get() == 0 ? PUBLIC : OTHER};
                });
        var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      assertThat(of(destinations, "https://good.net/x"))
          .isEqualTo(new Destination.Allowed(List.of(PUBLIC)));
      for (int i = 0; i < Destinations.LOOKUPS; i++) {
        AppId app = new AppId("app" + i / Destinations.MAX_LOOKUPS_OF_AN_APP);
        String endpoint = "https://dead" + i + ".net/x";
        callers.execute(() -> destinations.find(app, Browsers.at(endpoint)));
      }
      assertThat(all.await(60, TimeUnit.SECONDS)).isTrue();
      moved.set(1);
      ticks.addAndGet(Duration.ofMinutes(2).toNanos());

      assertThat(of(destinations, "https://good.net/x"))
          .isEqualTo(new Destination.Allowed(List.of(PUBLIC)));
      never.countDown();
      Eventually.within(
          Duration.ofSeconds(20),
          () ->
              assertThat(of(destinations, "https://good.net/x"))
                  .isEqualTo(new Destination.Allowed(List.of(OTHER))));
    }
  }

  @Test
  void a_host_that_was_not_looked_up_in_time_is_not_blamed() throws Exception {
    CountDownLatch all = new CountDownLatch(Destinations.LOOKUPS);
    CountDownLatch never = new CountDownLatch(1);
    try (var destinations =
            destinations(
                Duration.ofSeconds(1),
                List.of(),
                host -> {
                  all.countDown();
                  awaitQuietly(never);
                  throw new UnknownHostException(host);
                });
        var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < Destinations.LOOKUPS; i++) {
        AppId app = new AppId("app" + i / Destinations.MAX_LOOKUPS_OF_AN_APP);
        String endpoint = "https://dead" + i + ".net/x";
        callers.execute(() -> destinations.find(app, Browsers.at(endpoint)));
      }
      assertThat(all.await(60, TimeUnit.SECONDS)).isTrue();

      assertThat(of(destinations, "https://good.net/x"))
          .isEqualTo(new Destination.NotNow("lookups_busy"));
    }
  }

  @Test
  void an_app_whose_names_have_no_living_server_keeps_no_other_from_looking_up() throws Exception {
    CountDownLatch dead = new CountDownLatch(1);
    AtomicInteger asked = new AtomicInteger();
    List<Thread> waiting = new ArrayList<>();
    try (var all =
        destinations(
            List.of(),
            host -> {
              if (host.endsWith(".dead.net")) {
                asked.incrementAndGet();
                awaitQuietly(dead);
                throw new UnknownHostException(host);
              }
              return new InetAddress[] {PUBLIC};
            })) {
      for (int i = 0; i < 2 * Destinations.LOOKUPS; i++) {
        BrowserSubscription browser = Browsers.at("https://h" + i + ".dead.net/x");
        waiting.add(Thread.ofPlatform().start(() -> all.find(new AppId("careless"), browser)));
      }
      Eventually.within(
          Duration.ofSeconds(20),
          () -> assertThat(asked).hasValueGreaterThanOrEqualTo(Destinations.MAX_LOOKUPS_OF_AN_APP));
      Eventually.within(
          Duration.ofSeconds(20),
          () ->
              assertThat(waiting)
                  .allMatch(thread -> thread.getState() == Thread.State.TIMED_WAITING));

      assertThat(of(all, "https://a.net/x")).isEqualTo(new Destination.Allowed(List.of(PUBLIC)));
      assertThat(asked).hasValue(Destinations.MAX_LOOKUPS_OF_AN_APP);
    } finally {
      dead.countDown();
      for (Thread one : waiting) {
        one.join();
      }
    }
  }

  @Test
  void a_host_that_an_app_has_no_turn_for_is_not_to_blame() throws Exception {
    CountDownLatch dead = new CountDownLatch(1);
    AtomicInteger asked = new AtomicInteger();
    List<Thread> waiting = new ArrayList<>();
    try (var all =
        new Destinations(
            new WebPushSettings(
                List.of(),
                List.of(),
                null,
                1,
                1,
                Duration.ofMillis(50),
                Duration.ofSeconds(30),
                Duration.ofSeconds(30)),
            host -> {
              asked.incrementAndGet();
              awaitQuietly(dead);
              throw new UnknownHostException(host);
            },
            ticks::get)) {
      for (int i = 0; i < Destinations.MAX_LOOKUPS_OF_AN_APP; i++) {
        BrowserSubscription browser = Browsers.at("https://h" + i + ".dead.net/x");
        waiting.add(Thread.ofPlatform().start(() -> all.find(SHOP, browser)));
      }
      Eventually.within(
          Duration.ofSeconds(20),
          () -> assertThat(asked).hasValue(Destinations.MAX_LOOKUPS_OF_AN_APP));

      assertThat(of(all, "https://a.net/x")).isEqualTo(new Destination.NotNow("lookups_busy"));
    } finally {
      dead.countDown();
      for (Thread one : waiting) {
        one.join();
      }
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
