package io.pushplanet.dispatcher.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.transaction.support.TransactionOperations;

class CollisionsTest {
  private static final DataAccessException DEADLOCK =
      new CannotAcquireLockException(
          "", new SQLException("Deadlock found when trying to get lock", "40001", 1213));
  private static final DataAccessException HELD =
      new CannotAcquireLockException(
          "", new SQLException("Lock wait timeout exceeded", "40001", 1205));

  private final Deque<DataAccessException> refusals = new ArrayDeque<>();
  private final List<String> happened = new ArrayList<>();

  private String register() {
    return Collisions.retrying(
        TransactionOperations.withoutTransaction(),
        () -> happened.add("turn"),
        () -> {
          happened.add("work");
          if (!refusals.isEmpty()) {
            throw refusals.remove();
          }
          return "registered";
        });
  }

  @Test
  void those_who_met_in_a_deadlock_or_collided_try_again_in_turns() {
    refusals.addAll(List.of(DEADLOCK, new DuplicateKeyException("there")));

    assertThat(register()).isEqualTo("registered");
    assertThat(happened).containsExactly("work", "turn", "work", "turn", "work");
  }

  @Test
  void the_last_try_is_told() {
    for (int i = 0; i < Collisions.MOST_TRIES; i++) {
      refusals.add(DEADLOCK);
    }

    assertThatThrownBy(this::register).isSameAs(DEADLOCK);
    assertThat(refusals).isEmpty();
  }

  @Test
  void who_waited_for_a_row_in_vain_makes_nobody_wait_for_its_turn() {
    refusals.add(HELD);

    assertThatThrownBy(this::register).isSameAs(HELD);
    assertThat(happened).containsExactly("work");
  }
}
