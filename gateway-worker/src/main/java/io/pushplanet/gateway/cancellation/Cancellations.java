package io.pushplanet.gateway.cancellation;

import io.pushplanet.common.message.MessageId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Gatherers;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/// Knows from MySQL which messages were cancelled. Thread-safe; calls block.
public final class Cancellations {
  private static final int MESSAGES_PER_SELECT = 200;

  private static final String CANCELLED =
      "SELECT id FROM messages WHERE (%s) AND cancelled_at IS NOT NULL";
  private static final String ONE_MESSAGE = "(day = ? AND id = ?)";

  private final JdbcTemplate database;

  public Cancellations(DataSource database) {
    this.database = new JdbcTemplate(database);
  }

  /// @throws org.springframework.dao.DataAccessException when MySQL does not answer
  public Set<MessageId> among(Collection<MessageId> messages) {
    return messages.stream()
        .distinct()
        .gather(Gatherers.windowFixed(MESSAGES_PER_SELECT))
        .flatMap(some -> read(some).stream())
        .collect(Collectors.toSet());
  }

  private List<MessageId> read(List<MessageId> some) {
    List<Object> keys = new ArrayList<>();
    some.forEach(message -> Collections.addAll(keys, message.day(), message.value()));
    return database.query(
        CANCELLED.formatted(String.join(" OR ", Collections.nCopies(some.size(), ONE_MESSAGE))),
        (row, _) -> new MessageId(row.getString("id")),
        keys.toArray());
  }
}
