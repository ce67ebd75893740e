package io.pushplanet.cm.inbox;

import io.pushplanet.cm.inbox.InboxRow.Fate;
import io.pushplanet.common.message.MessageId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.ListIterator;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/// The content of an inbox when it was read.
public sealed interface InboxPage {

  /// @param rows ordered by the ids of their messages, whenever they were parked
  /// @param more there are more rows than were read
  record Rows(List<InboxRow> rows, boolean more) implements InboxPage {
    static final Rows NONE = new Rows(List.of(), false);

    public Rows {
      rows = List.copyOf(rows);
    }

    /// These rows of a device's own, together with all its broadcasts. Of each collapse key only
    /// the newest message is due; one that is over displaces no older one. A broadcast that is
    /// newer than the last row of an incomplete page waits for the next page.
    public Rows with(List<InboxRow> broadcasts) {
      List<InboxRow> all = new ArrayList<>(rows);
      broadcasts.stream().filter(row -> !isBeyond(row.message())).forEach(all::add);
      all.sort(Comparator.comparing(InboxRow::message).thenComparingLong(InboxRow::seq));
      Map<String, MessageId> newest = newest(broadcasts);
      Set<MessageId> before = new HashSet<>();
      all.replaceAll(row -> {
        if (row.fate() != Fate.DUE) {
          return row;
        }
        if (!row.message().equals(newest.get(row.slot()))) {
          return row.with(Fate.COLLAPSED);
        }
        return before.add(row.message()) ? row : row.with(Fate.REPEAT);
      });
      setPositions(all, broadcasts);
      return new Rows(all, more);
    }

    private boolean isBeyond(MessageId message) {
      return more && (rows.isEmpty() || rows.getLast().message().compareTo(message) < 0);
    }

    private Map<String, MessageId> newest(List<InboxRow> broadcasts) {
      Map<String, MessageId> newest = new HashMap<>();
      for (InboxRow row : rows) {
        newest.put(row.slot(), row.message());
      }
      for (InboxRow row : broadcasts) {
        if (row.fate() == Fate.DUE) {
          newest.merge(
              row.slot(), row.message(), (one, other) -> one.compareTo(other) > 0 ? one : other);
        }
      }
      return newest;
    }

    /// Lists are numbered in the order in which they were parked, while they are delivered in the
    /// order of messages: so the position stays before the first list that is still to come.
    private static void setPositions(List<InboxRow> inTurn, List<InboxRow> owed) {
      var left = new TreeSet<Long>();
      owed.forEach(row -> left.add(row.seq()));
      long highest = 0;
      for (ListIterator<InboxRow> turns = inTurn.listIterator(); turns.hasNext(); ) {
        InboxRow row = turns.next();
        if (row.isBroadcast()) {
          left.remove(row.seq());
          highest = Math.max(highest, row.seq());
          turns.set(row.moving(left.isEmpty() ? highest : Math.min(highest, left.first() - 1)));
        }
      }
    }
  }

  /// MySQL is away or too many devices wait: ask again later.
  record Unreadable() implements InboxPage {}
}
