package io.pushplanet.dispatcher.push;

import io.pushplanet.dispatcher.problem.FieldError;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/// The answer to a validation of a message that would be accepted.
///
/// @param warnings why some of its deliveries would fail at once
record Validation(boolean valid, Receipt.Recipients recipients, List<FieldError> warnings) {
  /// Gives one warning for each reason, however many devices have it.
  static Validation of(Receipt receipt, List<Unreachable> unreachable) {
    Map<String, List<Unreachable>> byReason =
        unreachable.stream()
            .collect(
                Collectors.groupingBy(
                    Unreachable::reason, LinkedHashMap::new, Collectors.toList()));
    int recipients = receipt.recipients().estimate();
    return new Validation(
        true,
        receipt.recipients(),
        byReason.values().stream().map(some -> warning(some, recipients)).toList());
  }

  private static FieldError warning(List<Unreachable> some, int recipients) {
    Unreachable first = some.getFirst();
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
