package io.pushplanet.quickstart.platform;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class AddressFileTest {
  @TempDir private Path state;

  @Test
  void it_has_the_promised_fields() throws IOException {
    AddressFile.write(state, PretendedPlatform.addresses());

    JsonNode json =
        JsonMapper.shared().readTree(Files.readString(state.resolve("quickstart.json")));
    assertThat(json.path("dispatcher_url").asString()).isEqualTo("http://127.0.0.1:8080");
    assertThat(json.path("dashboard_url").asString()).isEqualTo("http://127.0.0.1:8081");
    assertThat(json.path("mqtt_host").asString()).isEqualTo("127.0.0.1");
    assertThat(json.path("mqtt_port").asInt()).isEqualTo(1883);
    assertThat(json.path("listen_address").asString()).isEqualTo("127.0.0.1");
    assertThat(json.path("network_host").asString()).isEmpty();
    assertThat(json.path("app").asString()).isEqualTo("demo");
    assertThat(json.path("api_key").asString()).isEqualTo("key");
    assertThat(json.path("operator_user").asString()).isEqualTo("admin");
    assertThat(json.path("operator_password").asString()).isEqualTo("secret");
    assertThat(json.path("pids").path("gateway_worker").asLong()).isEqualTo(2);
  }

  @Test
  void only_its_owner_can_read_it() throws IOException {
    AddressFile.write(state, PretendedPlatform.addresses());

    assertThat(
            PosixFilePermissions.toString(
                Files.getPosixFilePermissions(state.resolve("quickstart.json"))))
        .isEqualTo("rw-------");
  }

  @Test
  void it_reads_back_what_was_written_and_is_empty_when_deleted() {
    AddressFile.write(state, PretendedPlatform.addresses());

    assertThat(AddressFile.read(state)).contains(PretendedPlatform.addresses());
    AddressFile.delete(state);
    assertThat(AddressFile.read(state)).isEmpty();
  }

  @Test
  void a_file_that_an_older_build_has_left_behind_is_no_platform() throws IOException {
    Files.writeString(
        state.resolve("quickstart.json"), "{\"dispatcher_url\":\"http://127.0.0.1:8080\"}");

    assertThat(AddressFile.read(state)).isEmpty();
  }

  @Test
  void its_content_does_not_reach_a_log_by_accident() {
    assertThat(PretendedPlatform.addresses().toString())
        .doesNotContain("secret")
        .doesNotContain("key");
  }
}
