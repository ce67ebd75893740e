package io.pushplanet.gateway.provider;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.gateway.credential.CredentialCache;
import io.pushplanet.simulators.ledger.LedgerEntry;
import io.pushplanet.simulators.ledger.Simulated;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.JdbcTemplate;

/// A thousand tenants of APNs, FCM, Web Push and Push Kit send over the wire, and a random third of
/// them changes keys meanwhile: no request carries another tenant's key, nor a tenant's former key
/// once the worker has read the change. The tenants send in slices, and connections that are no
/// longer used close. `-Dseed=N` repeats the choices of a run, `-Dtenants=N` takes another number.
class ThousandSendersIT {
  private static final int TENANTS = Integer.getInteger("tenants", 1_000);
  private static final int SLICE = 250;

  /// So many tenants of a slice have sent before, and their connections have closed since.
  private static final int RETURNING = 25;

  private static final int AT_ONCE = 32;
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Set<Simulated> VENDORS =
      Set.of(Simulated.APNS, Simulated.FCM, Simulated.WEBPUSH, Simulated.HMS);
  private static final long SEED = Long.getLong("seed", System.nanoTime());

  private final Random dice = new Random(SEED);
  private final ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE);
  @TempDir private Path state;
  private ProviderPlatform platform;

  @BeforeEach
  void start() {
    System.out.println("senders seed=" + SEED);
    platform =
        ProviderPlatform.start(
            state,
            "--gateway.apns.connection.idle-timeout=500ms",
            "--gateway.fcm.connection.idle-timeout=500ms");
    platform.tokensMayChangeAtOnce(true);
  }

  @AfterEach
  void stop() {
    threads.close();
    platform.close();
  }

  /// appleboy/gorush#365, #566, #588: one instance there has one team and one project.
  @Test
  void countly_5850_gorush_365_gorush_566_gorush_588_each_push_carries_its_own_tenants_key()
      throws Exception {
    List<SendingTenant> tenants =
        IntStream.range(0, TENANTS).mapToObj(i -> new SendingTenant(platform, i)).toList();
    Queue<Object[]> rows = new ConcurrentLinkedQueue<>();
    each(tenants, tenant -> rows.add(tenant.firstRow()));
    new JdbcTemplate(platform.context.getBean(DataSource.class))
        .batchUpdate(SendingTenant.INSERT, List.copyOf(rows));

    for (int from = 0; from < TENANTS; from += SLICE) {
      Set<SendingTenant> some =
          new LinkedHashSet<>(tenants.subList(from, Math.min(TENANTS, from + SLICE)));
      for (int i = 0; i < RETURNING; i++) {
        some.add(tenants.get(dice.nextInt(Math.min(TENANTS, from + SLICE))));
      }
      sendAndChangeKeys(List.copyOf(some));
    }

    List<LedgerEntry> ledger = platform.simulators.ledger().entries("");
    Map<String, List<LedgerEntry>> byToken =
        ledger.stream()
            .filter(entry -> VENDORS.contains(entry.provider()))
            .collect(Collectors.groupingBy(LedgerEntry::token));
    int requests = tenants.stream().mapToInt(tenant -> tenant.compare(byToken)).sum();
    assertThat(ledger).allSatisfy(entry -> assertThat(entry.reason()).isEmpty());
    assertThat(byToken).as("requests that no tenant made").hasSize(requests);
  }

  private void sendAndChangeKeys(List<SendingTenant> some) throws Exception {
    each(shuffled(some), SendingTenant::send);

    List<SendingTenant> changing = some.stream().filter(_ -> dice.nextInt(3) == 0).toList();
    List<Runnable> mixed = new ArrayList<>();
    for (SendingTenant tenant : changing) {
      mixed.add(tenant::changeKey);
    }
    for (SendingTenant tenant : some) {
      if (tenant.maySendWhileItsKeyChanges()) {
        mixed.add(tenant::send);
      }
    }
    each(shuffled(mixed), Runnable::run);
    CredentialCache credentials = platform.context.getBean(CredentialCache.class);
    for (SendingTenant tenant : changing) {
      Eventually.within(PATIENCE, () -> assertThat(tenant.isSettled(credentials)).isTrue());
    }

    each(shuffled(some), SendingTenant::send);
    for (Channel channel : List.of(Channel.APNS, Channel.FCM)) {
      int keys =
          some.stream()
              .filter(tenant -> tenant.channel() == channel)
              .mapToInt(SendingTenant::keys)
              .sum();
      assertThat(platform.connections(channel)).isLessThanOrEqualTo(keys);
      Eventually.within(PATIENCE, () -> assertThat(platform.connections(channel)).isZero());
    }
  }

  private <T> List<T> shuffled(List<T> those) {
    List<T> shuffled = new ArrayList<>(those);
    Collections.shuffle(shuffled, dice);
    return shuffled;
  }

  private <T> void each(List<T> those, Consumer<T> action) throws Exception {
    List<Future<?>> done = new ArrayList<>();
    for (T one : those) {
      done.add(threads.submit(() -> action.accept(one)));
    }
    for (Future<?> one : done) {
      one.get();
    }
  }
}
