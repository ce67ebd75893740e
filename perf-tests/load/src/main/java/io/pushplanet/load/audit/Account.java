package io.pushplanet.load.audit;

import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.load.client.AcceptedMessage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/// The account of a run: accepted = delivered + expired + failed + cancelled + queued, and all
/// sources agree.
///
/// @param total accepted recipients by their outcome; `recipients` are the accepted ones
/// @param lost accepted, but MySQL has no row, or calls it queued although no store holds it, or
///     although it has been in the broker for too long
/// @param phantoms called delivered, but no device or provider saw it
/// @param contradictions called failed, but a device or a provider saw it
/// @param queued waiting in a store or in the broker
/// @param uninvited devices that were no recipients: MySQL has a delivery to them, or they saw it
/// @param miscounted messages whose counts in MySQL do not equal their deliveries
/// @param misreported messages whose counts in the API do not equal their deliveries
/// @param strangers messages that were seen without a 202 and beyond what unsure requests can
///     explain
/// @param duplicates how often a message was seen again
/// @param recordedDuplicates how many of them the platform noticed
/// @param reasons of failures and how often
/// @param unchecked deliveries over a channel without watched receivers
public record Account(
    long messages,
    Counts total,
    List<Reception> lost,
    List<Reception> phantoms,
    List<Reception> contradictions,
    List<Reception> queued,
    List<Reception> uninvited,
    List<String> miscounted,
    List<String> misreported,
    long strangers,
    long unsure,
    long duplicates,
    long recordedDuplicates,
    Map<String, Long> channels,
    Map<String, Long> reasons,
    long unchecked,
    long apiChecked) {
  private static final int EXAMPLES = 5;

  public static Account of(Evidence evidence) {
    Map<Reception, DeliveryRow> rows = new HashMap<>();
    Map<String, Counts> sums = new HashMap<>();
    for (DeliveryRow row : evidence.rows()) {
      rows.put(row.reception(), row);
      sums.merge(
          row.reception().message(),
          Counts.NONE.plus(row.state()),
          (sum, _) -> sum.plus(row.state()));
    }
    Set<Reception> invited = new HashSet<>();
    Counts total = Counts.NONE;
    List<Reception> lost = new ArrayList<>();
    List<Reception> phantoms = new ArrayList<>();
    List<Reception> contradictions = new ArrayList<>();
    List<Reception> queued = new ArrayList<>();
    Map<String, Long> channels = new TreeMap<>();
    Map<String, Long> reasons = new TreeMap<>();
    long duplicates = 0;
    long recordedDuplicates = 0;
    long unchecked = 0;
    for (AcceptedMessage message : evidence.accepted()) {
      for (DeviceId device : message.recipients()) {
        Reception reception = new Reception(message.id().value(), device);
        if (!invited.add(reception)) {
          continue;
        }
        int seen = evidence.seen().getOrDefault(reception, 0);
        duplicates += Math.max(0, seen - 1);
        DeliveryRow row = rows.get(reception);
        if (row == null || isStranded(row, evidence)) {
          lost.add(reception);
          continue;
        }
        total = total.plus(row.state());
        recordedDuplicates += row.duplicates();
        switch (row.state()) {
          case DELIVERED -> {
            channels.merge(row.channel(), 1L, Long::sum);
            if (seen == 0 && evidence.watched().contains(row.channel())) {
              phantoms.add(reception);
            } else if (seen == 0) {
              unchecked++;
            }
          }
          case FAILED -> {
            reasons.merge(row.reason(), 1L, Long::sum);
            if (seen > 0) {
              contradictions.add(reception);
            }
          }
          // Seen but expired, cancelled or queued: the acknowledgement came too late or is on its
          // way.
          case EXPIRED, CANCELLED -> {}
          case QUEUED -> queued.add(reception);
        }
      }
    }
    Set<String> known = new HashSet<>();
    evidence.accepted().forEach(message -> known.add(message.id().value()));
    long strange =
        evidence.seen().keySet().stream()
            .map(Reception::message)
            .filter(message -> !known.contains(message))
            .distinct()
            .count();
    return new Account(
        evidence.accepted().size(),
        new Counts(
            invited.size(),
            total.delivered(),
            total.failed(),
            total.expired(),
            total.queued(),
            total.cancelled()),
        lost,
        phantoms,
        contradictions,
        queued,
        uninvited(rows.keySet(), evidence.seen().keySet(), known, invited),
        unequal(known, evidence.tableCounts(), sums, true),
        unequal(known, evidence.apiCounts(), sums, false),
        Math.max(0, strange - evidence.unsure()),
        evidence.unsure(),
        duplicates,
        recordedDuplicates,
        channels,
        reasons,
        unchecked,
        evidence.apiCounts().size());
  }

  /// Whether every accepted recipient is accounted for and no source contradicts.
  public boolean balances() {
    long sum =
        total.delivered() + total.expired() + total.failed() + total.cancelled() + total.queued();
    return sum == total.recipients()
        && lost.isEmpty()
        && phantoms.isEmpty()
        && contradictions.isEmpty()
        && uninvited.isEmpty()
        && miscounted.isEmpty()
        && misreported.isEmpty()
        && strangers == 0;
  }

  /// Accepted recipients without their message, whatever became of it.
  public long undelivered() {
    return total.recipients() - total.delivered();
  }

  /// Whether the account balances and every recipient has its message: for messages that can only
  /// be delivered.
  public boolean deliversAll() {
    return balances() && undelivered() == 0;
  }

  /// The account for people, in several lines.
  public String text() {
    StringBuilder text = new StringBuilder();
    line(text, "messages accepted", messages);
    line(text, "recipients accepted", total.recipients());
    line(text, "= delivered", total.delivered());
    line(text, "+ expired", total.expired());
    line(text, "+ failed", total.failed());
    line(text, "+ cancelled", total.cancelled());
    line(text, "+ queued", total.queued());
    line(text, "lost", lost.size(), lost);
    line(text, "phantoms (delivered, but nobody saw it)", phantoms.size(), phantoms);
    line(text, "failed, but seen", contradictions.size(), contradictions);
    line(text, "deliveries to others", uninvited.size(), uninvited);
    line(text, "messages miscounted in MySQL", miscounted.size(), miscounted);
    line(text, "messages misreported by the API", misreported.size(), misreported);
    line(text, "seen without a 202 and unexplained", strangers);
    line(text, "duplicates seen", duplicates);
    line(text, "duplicates the platform noticed", recordedDuplicates);
    line(text, "requests without a sure answer", unsure);
    line(text, "messages compared with the API", apiChecked);
    line(text, "deliveries nobody watched", unchecked);
    text.append("delivered by channel: ").append(channels).append('\n');
    if (!reasons.isEmpty()) {
      text.append("failed by reason: ").append(reasons).append('\n');
    }
    return text.append(balances() ? "The account balances.\n" : "THE ACCOUNT DOES NOT BALANCE.\n")
        .toString();
  }

  private static List<Reception> uninvited(
      Set<Reception> told, Set<Reception> seen, Set<String> messages, Set<Reception> invited) {
    return Stream.concat(
            told.stream(), seen.stream().filter(one -> messages.contains(one.message())))
        .distinct()
        .filter(one -> !invited.contains(one))
        .toList();
  }

  private static boolean isStranded(DeliveryRow row, Evidence evidence) {
    return row.state() == DeliveryState.QUEUED
        && (evidence.inBroker() == 0 || evidence.still())
        && !evidence.held().contains(row.reception());
  }

  private static List<String> unequal(
      Set<String> messages, Map<String, Counts> told, Map<String, Counts> sums, boolean all) {
    return messages.stream()
        .filter(message -> all || told.containsKey(message))
        .filter(message -> !Objects.equals(told.get(message), sums.get(message)))
        .toList();
  }

  private static void line(StringBuilder text, String what, long count) {
    text.append(String.format(Locale.ROOT, "%-42s %,12d%n", what, count));
  }

  private static void line(StringBuilder text, String what, long count, List<?> examples) {
    line(text, what, count);
    examples.stream()
        .limit(EXAMPLES)
        .forEach(each -> text.append("    ").append(each).append('\n'));
  }
}
