package io.pushplanet.cm.inbox;

import java.util.List;

/// What an inbox held when it was read.
public sealed interface InboxPage {

  /// @param more there is more than was read
  record Rows(List<InboxRow> rows, boolean more) implements InboxPage {
    static final Rows NONE = new Rows(List.of(), false);

    public Rows {
      rows = List.copyOf(rows);
    }
  }

  /// MySQL is away or too many devices are in line: ask again later.
  record Unreadable() implements InboxPage {}
}
