package io.pushplanet.cm.directory;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class InboxPatrolTest extends RegistrarScene {
  /// Otherwise a million devices would each ask every two seconds.
  @Test
  void no_inbox_is_read_while_mysql_is_away_and_all_are_checked_afterwards() {
    var asking = new AsksForParked();
    var all = known(1_200, asking);
    parkedAway = true;

    registrar.lapsed();
    registrar.compareNext(registrar.pause());
    registrar.compareNext(registrar.pause());
    assertThat(looks).as("statements: one each time").hasValue(3);
    assertThat(asking.times).isZero();

    parkedAway = false;
    registrar.compareNext(registrar.pause());
    assertThat(asking.times).as("each inbox is read").isEqualTo(all.size());

    registrar.compareNext(registrar.pause());
    assertThat(asking.times).as("once").isEqualTo(all.size());
  }

  @Test
  void an_inbox_that_is_missed_while_all_are_checked_is_checked_again() {
    var asking = new AsksForParked();
    var all = known(1_200, asking);
    parkedAway = true;
    registrar.lapsed();
    parkedAway = false;
    whileLooking = () -> parkedAway = looks.get() == 3;

    registrar.compareNext(registrar.pause());
    assertThat(asking.times).isLessThan(all.size());
    parkedAway = false;
    int before = asking.times;
    registrar.compareNext(registrar.pause());

    assertThat(asking.times - before).isEqualTo(all.size());
  }
}
