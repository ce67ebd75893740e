package io.pushplanet.gateway.later;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RequestsTest {
  @Test
  void devices_of_a_message_share_a_request_until_it_is_full() {
    Requests requests = new Requests(2, 2);

    assertThat(requests.add("a")).isTrue();
    assertThat(requests.add("a")).isTrue();
    assertThat(requests.begun()).isOne();
    assertThat(requests.add("a")).isTrue();
    assertThat(requests.begun()).isEqualTo(2);
    assertThat(requests.add("b")).as("a third request").isFalse();
    assertThat(requests.add("a")).as("room in the second request").isTrue();
  }

  @Test
  void messages_are_numbered_in_the_order_in_which_they_were_added() {
    Requests requests = new Requests(10, 5);

    requests.add("a");
    requests.add("b");
    requests.add("a");

    assertThat(requests.number("a")).isZero();
    assertThat(requests.number("b")).isOne();
  }

  @Test
  void a_row_that_is_taken_back_makes_room_for_another_message() {
    Requests requests = new Requests(1, 2);
    requests.add("a");

    requests.remove("a");

    assertThat(requests.begun()).isZero();
    assertThat(requests.add("b")).isTrue();
  }

  @Test
  void no_two_messages_share_a_number_after_another_message_was_taken_back() {
    Requests requests = new Requests(10, 5);
    requests.add("a");
    requests.add("b");

    requests.remove("a");
    requests.add("c");

    assertThat(requests.number("c")).isNotEqualTo(requests.number("b"));
  }
}
