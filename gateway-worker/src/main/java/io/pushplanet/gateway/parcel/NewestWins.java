package io.pushplanet.gateway.parcel;

import static java.util.Comparator.naturalOrder;

import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.database.DatabaseCircuitBreaker;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BinaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Gatherers;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/// Finds waiting messages that have had their day: a newer message for the same device has the same
/// collapse key. Sent now, they would take the newer one's place on the screen.
///
/// A message gives way to a newer one that was delivered, or comes back with it. To one that waits
/// elsewhere it gives way only after a try of its own: otherwise a device whose messages follow
/// each other faster than they come back would never get any. Thread-safe.
public final class NewestWins {
  private static final int PARCELS_PER_SELECT = 100;

  /// `delivery` is text, written by our own mapper, and empty until the message's acceptance is
  /// known, so no function for JSON reads it. The collation would ignore the letters' case.
  private static final String NEWER =
      """
      (SELECT STRAIGHT_JOIN ? AS parcel FROM deliveries d FORCE INDEX (deliveries_by_device)
      JOIN messages m ON m.day = d.day AND m.id = d.message_id
      WHERE d.app_id = ? AND d.device_id = ? AND d.message_id > ? AND d.day >= ? AND d.state IN ('delivered', ?)
        AND INSTR(CAST(m.delivery AS BINARY), CAST(? AS BINARY)) > 0 LIMIT 1)
      """;

  private final JdbcTemplate database;
  private final DatabaseCircuitBreaker breaker;

  public NewestWins(DataSource database, DatabaseCircuitBreaker breaker) {
    this.database = new JdbcTemplate(database);
    this.breaker = breaker;
  }

  /// The result of a check.
  ///
  /// @param left parcels to be sent; all of them where the database does not answer
  /// @param collapsed parcels that a newer message replaces
  public record Checked(List<Parcel> left, List<Parcel> collapsed) {}

  private record Slot(DeviceKey device, String collapseKey) {}

  /// A parcel that may be too old.
  private record Waiting(Parcel parcel, String collapseKey) {
    /// The events of a Live Activity do not replace each other. In an inbox the newest wins
    /// already.
    static Stream<Waiting> of(Parcel parcel) {
      Push push = parcel.push();
      String key = push.delivery().collapseKey();
      return key != null
              && parcel.waited()
              && push.overrides().liveActivity() == null
              && push.inInbox() == null
          ? Stream.of(new Waiting(parcel, key))
          : Stream.empty();
    }

    Slot slot() {
      return new Slot(parcel.key(), collapseKey);
    }

    String name() {
      return parcel.push().id() + "/" + parcel.recipient().device();
    }
  }

  /// Checks the parcels, if the database answers. Only those that have waited cost a look into it,
  /// and only those that have a collapse key. Blocks.
  public Checked check(List<Parcel> parcels) {
    List<Waiting> asked = parcels.stream().flatMap(Waiting::of).toList();
    Checked all = new Checked(parcels, List.of());
    if (asked.isEmpty()) {
      return all;
    }
    return breaker
        .ask("event=newest_check_failed parcels=" + asked.size(), () -> withNewer(asked))
        .map(replaced -> checked(parcels, asked, replaced))
        .orElse(all);
  }

  private static Checked checked(List<Parcel> parcels, List<Waiting> asked, Set<String> replaced) {
    Map<Slot, MessageId> newest = new HashMap<>();
    asked.forEach(one ->
        newest.merge(one.slot(), one.parcel.push().id(), BinaryOperator.maxBy(naturalOrder())));
    List<Parcel> collapsed =
        asked.stream()
            .filter(one ->
                replaced.contains(one.name())
                    || !one.parcel.push().id().equals(newest.get(one.slot())))
            .map(Waiting::parcel)
            .toList();
    // Compared by identity: comparing their content takes long.
    Set<Parcel> old = Collections.newSetFromMap(new IdentityHashMap<>());
    old.addAll(collapsed);
    return new Checked(parcels.stream().filter(one -> !old.contains(one)).toList(), collapsed);
  }

  private Set<String> withNewer(List<Waiting> asked) {
    return asked.stream()
        .gather(Gatherers.windowFixed(PARCELS_PER_SELECT))
        .flatMap(some -> someWithNewer(some).stream())
        .collect(Collectors.toSet());
  }

  private List<String> someWithNewer(List<Waiting> some) {
    List<Object> arguments = new ArrayList<>();
    for (Waiting one : some) {
      Push push = one.parcel.push();
      Collections.addAll(
          arguments,
          one.name(),
          push.app().value(),
          one.parcel.recipient().device().value(),
          push.id().value(),
          push.id().day(),
          push.attempt() > 0 ? "queued" : "delivered",
          "\"collapse_key\":" + WireForm.json(one.collapseKey).text());
    }
    return database.query(
        String.join(" UNION ALL ", Collections.nCopies(some.size(), NEWER)),
        (row, _) -> row.getString("parcel"),
        arguments.toArray());
  }
}
