package io.pushplanet.gateway.parcel;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.gateway.cancellation.Cancellations;
import io.pushplanet.gateway.database.DatabaseCircuitBreaker;
import io.pushplanet.gateway.provider.DeliveryOutcome;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Gatherers;
import javax.sql.DataSource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;

/// Leaves out parcels that have ended already, or whose message was cancelled. Asked only about
/// parcels that are not on their first way: handed out again by the broker, back from `later`, or
/// fallen back from another channel. It spares devices a second copy where it can. A parcel that
/// failed because of a bug of ours has not ended for good: it is a dead letter, and an operator may
/// replay it. While the database is away nothing waits for its answer, and the result says that
/// nothing is known.
public final class SettledBefore {
  private static final int ROWS_PER_SELECT = 200;

  static final String ENDED =
      "SELECT message_id, device_id,"
          + " state = 'delivered' AND channel = 'mqtt' AND duplicates = 0 AS by_mqtt_alone"
          + " FROM deliveries WHERE (%s) AND state <> 'queued'"
          + " AND NOT (state = 'failed' AND reason <=> '"
          + DeliveryOutcome.InternalError.REASON
          + "')";
  static final String ONE_DELIVERY = "(day = ? AND message_id = ? AND device_id = ?)";

  private final JdbcTemplate database;
  private final Cancellations cancellations;
  private final DatabaseCircuitBreaker breaker;

  public SettledBefore(DataSource database, DatabaseCircuitBreaker breaker) {
    this.database = new JdbcTemplate(database);
    this.cancellations = new Cancellations(database);
    this.breaker = breaker;
  }

  /// The result of a check.
  ///
  /// @param left parcels to be sent
  /// @param calledOff parcels that fell back from MQTT, and were delivered over MQTT after all
  /// @param cancelled parcels whose message was cancelled before they ended
  /// @param known whether the database answered; if not, `left` are all parcels
  public record Checked(
      List<Parcel> left, List<Parcel> calledOff, List<Parcel> cancelled, boolean known) {}

  /// Checks the parcels, if the database answers.
  public Checked check(List<Parcel> parcels) {
    if (parcels.isEmpty()) {
      return new Checked(parcels, List.of(), List.of(), true);
    }
    return breaker
        .ask("event=repeat_check_failed parcels=" + parcels.size(), () -> mustCheck(parcels))
        .orElseGet(() -> new Checked(parcels, List.of(), List.of(), false));
  }

  /// Checks the parcels even if the database did not answer before. For a caller that has time, and
  /// that would store for good what was called off meanwhile.
  ///
  /// @throws DataAccessException when MySQL does not answer
  public Checked mustCheck(List<Parcel> parcels) {
    Set<String> ended = new HashSet<>();
    Set<String> byMqtt = new HashSet<>();
    Set<MessageId> stopped = new HashSet<>();
    parcels.stream()
        .gather(Gatherers.windowFixed(ROWS_PER_SELECT))
        .forEach(some -> {
          collect(some, ended, byMqtt);
          stopped.addAll(cancellations.among(some.stream().map(it -> it.push().id()).toList()));
        });
    breaker.answered();
    List<Parcel> left = new ArrayList<>();
    List<Parcel> calledOff = new ArrayList<>();
    List<Parcel> cancelled = new ArrayList<>();
    for (Parcel parcel : parcels) {
      String delivery = parcel.push().id() + "/" + parcel.recipient().device();
      if (!ended.contains(delivery)) {
        (stopped.contains(parcel.push().id()) ? cancelled : left).add(parcel);
      } else if (byMqtt.contains(delivery) && parcel.push().tried().contains(Channel.MQTT)) {
        calledOff.add(parcel);
      }
    }
    return new Checked(left, calledOff, cancelled, true);
  }

  /// The messages that were cancelled; none where the database does not answer.
  ///
  /// @param messages of one batch
  public Set<MessageId> cancelled(Set<MessageId> messages) {
    return breaker
        .ask(
            "event=cancel_check_failed messageIds=" + messages, () -> cancellations.among(messages))
        .orElse(Set.of());
  }

  private void collect(List<Parcel> some, Set<String> ended, Set<String> byMqtt) {
    List<Object> deliveries = new ArrayList<>();
    for (Parcel parcel : some) {
      Collections.addAll(
          deliveries,
          parcel.push().id().day(),
          parcel.push().id().value(),
          parcel.recipient().device().value());
    }
    database.query(
        ENDED.formatted(String.join(" OR ", Collections.nCopies(some.size(), ONE_DELIVERY))),
        row -> {
          String delivery = row.getString("message_id") + "/" + row.getString("device_id");
          ended.add(delivery);
          if (row.getBoolean("by_mqtt_alone")) {
            byMqtt.add(delivery);
          }
        },
        deliveries.toArray());
  }
}
