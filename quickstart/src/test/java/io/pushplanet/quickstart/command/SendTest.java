package io.pushplanet.quickstart.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

class SendTest {
  @Test
  void the_options_become_the_message_of_the_api() {
    var options =
        Options.parse(
            List.of(
                "--device=d1",
                "--title",
                "Hello",
                "--body=World",
                "--data=order=77",
                "--data",
                "by=ship",
                "--route=mqtt"),
            Send.OPTIONS);

    assertThat(Send.message(options))
        .isEqualTo(
            JsonMapper.shared()
                .readTree(
                    """
                    {"audience":{"device":"d1"},"content":{"title":"Hello","body":"World","data":{"order":"77","by":"ship"}},
                     "delivery":{"route":"mqtt"}}
                    """));
  }

  @Test
  void a_message_without_a_device_is_refused_before_any_request() {
    assertThatExceptionOfType(Refusal.class)
        .isThrownBy(() -> Send.run(Path.of("/nowhere"), List.of("--title=Hello")))
        .withMessageContaining("--device is missing");
  }
}
