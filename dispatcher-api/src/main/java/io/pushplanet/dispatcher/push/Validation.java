package io.pushplanet.dispatcher.push;

import io.pushplanet.dispatcher.problem.FieldError;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/// What is said of a message that would be accepted.
///
/// @param warnings why deliveries of it would fail at once
record Validation(boolean valid, Receipt.Recipients recipients, List<FieldError> warnings) {
  /// One for each reason, however many devices it is true of.
  static Validation of(Receipt receipt, List<NoWay> failing) {
    Map<String, List<NoWay>> byReason =
        failing.stream()
            .collect(Collectors.groupingBy(NoWay::reason, LinkedHashMap::new, Collectors.toList()));
    int recipients = receipt.recipients().estimate();
    return new Validation(
        true,
        receipt.recipients(),
        byReason.values().stream().map(some -> warning(some, recipients)).toList());
  }

  private static FieldError warning(List<NoWay> some, int recipients) {
    NoWay first = some.getFirst();
    return new FieldError(
        "/audience",
        first.reason(),
        some.size()
            + " of "
            + recipients
            + " devices would fail, such as \""
            + first.device()
            + "\": "
            + first.action());
  }
}
