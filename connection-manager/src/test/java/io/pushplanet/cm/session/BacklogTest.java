package io.pushplanet.cm.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class BacklogTest {
  private final Backlog<String> backlog = new Backlog<>();

  @Test
  void the_first_item_is_taken_first() {
    backlog.add("a");
    backlog.add("b");

    assertThat(backlog).containsExactly("a", "b");
    assertThat(backlog.remove()).isEqualTo("a");
    assertThat(backlog.poll()).isEqualTo("b");
    assertThat(backlog.poll()).isNull();
  }

  @Test
  void one_in_the_middle_can_be_taken() {
    backlog.add("a");
    backlog.add("b");
    backlog.add("c");

    assertThat(backlog.remove(1)).isEqualTo("b");
    assertThat(backlog).containsExactly("a", "c");
  }

  @Test
  void an_empty_one_has_nothing_to_take() {
    backlog.add("a");
    backlog.clear();

    assertThat(backlog).isEmpty();
    assertThatThrownBy(backlog::remove).isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void an_empty_list_is_shared() {
    Backlog<String> idle = Backlog.none();

    var busy = idle.with("a").with("b");
    assertThat(idle).isEmpty();
    assertThat(busy.orNone()).isSameAs(busy).containsExactly("a", "b");

    busy.remove();
    busy.remove();
    assertThat(busy.orNone()).isSameAs(Backlog.none());
  }
}
