package io.pushplanet.common.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.AppId;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// Both forms are checked by hand-written code; these are the equivalent patterns.
class IdFormsTest {
  private static final Pattern DEVICE = Pattern.compile("[A-Za-z0-9._:-]{1,64}");
  private static final Pattern APP = Pattern.compile("[a-z0-9][a-z0-9-]{0,63}");

  @Test
  void each_character_is_allowed_exactly_where_the_pattern_allows_it() {
    for (char each = 0; each < 0x180; each++) {
      for (var text :
          new String[] {String.valueOf(each), "a" + each, each + "a", "a" + each + "a"}) {
        assertThat(DeviceId.isValid(text)).as(text).isEqualTo(DEVICE.matcher(text).matches());
        assertThat(AppId.isValid(text)).as(text).isEqualTo(APP.matcher(text).matches());
      }
    }
  }

  @Test
  void one_to_sixty_four_characters_are_allowed() {
    for (int length = 0; length < 67; length++) {
      var text = "a".repeat(length);
      assertThat(DeviceId.isValid(text)).isEqualTo(DEVICE.matcher(text).matches());
      assertThat(AppId.isValid(text)).isEqualTo(APP.matcher(text).matches());
    }
  }
}
