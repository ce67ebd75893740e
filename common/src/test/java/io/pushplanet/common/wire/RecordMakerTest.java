package io.pushplanet.common.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.exc.ValueInstantiationException;

class RecordMakerTest {
  /// With components of each kind that may be absent.
  private record Parcel(String name, int grams, boolean fragile, @Nullable Long value) {
    Parcel {
      switch (name) {
        case "refused" -> throw new IllegalArgumentException("no such name");
        case "unlucky" -> throw new IllegalStateException("not now");
        case "broken" -> throw new StackOverflowError("too deep");
        default -> {}
      }
    }
  }

  private record Shelf(Parcel parcel) {}

  private record Nothing() {}

  @Test
  void a_record_gets_its_components() {
    assertThat(read("{'value':7,'name':'book','fragile':true,'grams':300}", Parcel.class))
        .isEqualTo(new Parcel("book", 300, true, 7L));
    assertThat(read("{'parcel':" + parcel("book") + "}", Shelf.class))
        .isEqualTo(new Shelf(new Parcel("book", 300, false, null)));
    assertThat(read("{'parcel':null}", Shelf.class).parcel()).isNull();
    assertThat(read("{}", Nothing.class)).isEqualTo(new Nothing());
  }

  @Test
  void a_refusal_of_the_constructor_is_malformed_with_its_reason() {
    assertThatThrownBy(() -> read("{'parcel':" + parcel("refused") + "}", Shelf.class))
        .isInstanceOf(MalformedWire.class)
        .cause()
        .isInstanceOf(ValueInstantiationException.class)
        .hasMessageContaining("no such name")
        .hasMessageContaining("Shelf[\"parcel\"]");
    assertThatThrownBy(() -> read(parcel("unlucky"), Parcel.class))
        .isInstanceOf(MalformedWire.class)
        .hasRootCauseMessage("not now");
    assertThatThrownBy(() -> read("{'name':'book','fragile':false}", Parcel.class))
        .isInstanceOf(MalformedWire.class)
        .cause()
        .hasMessageContaining("Parcel[\"grams\"]");
  }

  @Test
  void an_error_is_no_malformed_form() {
    assertThatThrownBy(() -> read(parcel("broken"), Parcel.class))
        .isInstanceOf(StackOverflowError.class);
  }

  private static String parcel(String name) {
    return "{'name':'" + name + "','grams':300,'fragile':false}";
  }

  private static <T> T read(String json, Class<T> type) {
    return WireForm.read(json.replace('\'', '"').getBytes(StandardCharsets.UTF_8), type);
  }
}
