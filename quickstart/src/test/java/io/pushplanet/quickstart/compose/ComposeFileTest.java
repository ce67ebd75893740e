package io.pushplanet.quickstart.compose;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

/// docker-compose.yml needs Docker, which the build does not have. This checks it as far as
/// possible without.
class ComposeFileTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final List<String> OURS =
      List.of("dispatcher-api", "gateway-worker", "connection-manager", "dashboard");

  private static final String PUBLIC = "${PUSHPLANET_BIND:-127.0.0.1}:";

  private final Map<?, ?> compose = load("docker-compose.yml");

  @Test
  void every_program_of_the_platform_and_every_server_is_there() {
    assertThat(services().keySet().stream().map(String::valueOf))
        .containsAll(OURS)
        .contains(
            "mysql", "redis", "rabbitmq", "migrations", "simulators", "prometheus", "grafana");
  }

  @Test
  void every_image_names_its_version() {
    services()
        .forEach((name, service) -> {
          if (map(service).get("image") instanceof String image) {
            assertThat(image).as("%s", name).matches(".+:v?\\d.*");
          }
        });
  }

  @Test
  void every_setting_of_our_programs_exists() throws IOException {
    String settings = Files.readString(ROOT.resolve("docs/settings.md"));
    for (String name : OURS) {
      for (Object variable : map(service(name).get("environment")).keySet()) {
        String property = String.valueOf(variable).toLowerCase(Locale.ROOT);
        String described = settings.toLowerCase(Locale.ROOT).replace('.', '_').replace("-", "_");

        assertThat(
                Pattern.compile("`" + property.replace("_", "_?") + "`").matcher(described).find())
            .as("%s of %s stands in docs/settings.md", variable, name)
            .isTrue();
      }
    }
  }

  @Test
  void the_ports_are_those_of_the_design() {
    assertThat(ports("dispatcher-api"))
        .containsExactly(PUBLIC + "8080:8080", "127.0.0.1:9080:9080");
    assertThat(ports("dashboard")).containsExactly(PUBLIC + "8081:8081", "127.0.0.1:9081:9081");
    assertThat(ports("gateway-worker")).containsExactly("127.0.0.1:9082:9082");
    assertThat(ports("connection-manager"))
        .containsExactly(PUBLIC + "1883:1883", "127.0.0.1:9083:9083");
  }

  @Test
  void every_port_is_for_this_machine_alone_unless_the_environment_opens_the_public_ones() {
    services()
        .forEach((name, service) -> {
          if (map(service).get("ports") instanceof List<?> ports) {
            assertThat(ports.stream().map(String::valueOf))
                .as("%s", name)
                .allMatch(port -> port.startsWith("127.0.0.1:") || port.startsWith(PUBLIC));
          }
        });
  }

  @Test
  void the_trusted_listener_is_not_published() {
    assertThat(ports("connection-manager")).noneMatch(port -> port.contains("1884"));
  }

  @Test
  void no_secret_stands_in_the_file() throws IOException {
    String example = Files.readString(ROOT.resolve("docs/operations/example.env"));
    Pattern variable = Pattern.compile("\\$\\{([A-Z_]+)");
    String file = Files.readString(ROOT.resolve("docker-compose.yml"));
    TreeSet<String> used = new TreeSet<>();
    variable.matcher(file).results().forEach(match -> used.add(match.group(1)));

    assertThat(used).isNotEmpty().allSatisfy(name -> assertThat(example).contains(name + "="));
    assertThat(file.lines().filter(line -> line.matches(".*(PASSWORD|PASS|MASTER_KEY): .*")))
        .allSatisfy(line -> assertThat(line).containsAnyOf("${", "RANDOM"));
  }

  @Test
  void the_file_with_the_secrets_gets_into_no_commit_and_no_image() throws IOException {
    assertThat(Files.readAllLines(ROOT.resolve(".gitignore"))).contains(".env");
    assertThat(Files.readAllLines(ROOT.resolve(".dockerignore"))).contains(".env");
  }

  @Test
  void no_secret_is_on_a_command_line() {
    services()
        .forEach((name, service) ->
            assertThat(String.valueOf(map(service).get("command")))
                .as("%s", name)
                .doesNotContain("${"));
  }

  @Test
  void every_file_it_mounts_or_builds_from_exists() {
    services()
        .forEach((name, service) -> {
          if (map(service).get("build") instanceof Map<?, ?> build) {
            Object dockerfile = build.get("dockerfile");
            assertThat(ROOT.resolve(dockerfile == null ? "Dockerfile" : dockerfile.toString()))
                .isRegularFile();
          }
          if (map(service).get("volumes") instanceof List<?> volumes) {
            volumes.stream()
                .map(volume -> volume.toString().split(":", -1)[0])
                .filter(source -> source.startsWith("./"))
                .forEach(source -> assertThat(ROOT.resolve(source)).as("%s", name).exists());
          }
        });
  }

  @Test
  void an_image_runs_its_program_with_the_collector_that_it_is_measured_with() throws IOException {
    String dockerfile = Files.readString(ROOT.resolve("Dockerfile"));
    Matcher options =
        Pattern.compile("= connection-manager ]; then echo \"(.+)\"; else echo \"(.+)\"; fi")
            .matcher(dockerfile);

    assertThat(options.find()).isTrue();
    assertThat(options.group(1))
        .isEqualTo(
            collectorIn("perf-tests/load/src/main/java/io/pushplanet/load/node/JvmFlags.java"));
    assertThat(options.group(1) + " " + options.group(2))
        .isEqualTo(
            collectorIn(
                "quickstart/src/main/java/io/pushplanet/quickstart/platform/BuiltPrograms.java"));
    assertThat(dockerfile).contains("> /application/jvm.options", "\"@jvm.options\"");
  }

  @Test
  void prometheus_scrapes_every_program_at_its_management_port() {
    String targets = String.valueOf(load("docs/operations/prometheus.yml").get("scrape_configs"));

    assertThat(
            Stream.of(
                "dispatcher-api:9080",
                "dashboard:9081",
                "gateway-worker:9082",
                "connection-manager:9083"))
        .allSatisfy(target -> assertThat(targets).contains(target));
  }

  @Test
  void prometheus_finds_the_alerts_that_are_mounted_beside_its_configuration() {
    assertThat(load("docs/operations/prometheus.yml").get("rule_files"))
        .isEqualTo(List.of("alerts.yml"));
    assertThat(String.valueOf(service("prometheus").get("volumes")))
        .contains("./docs/operations/alerts.yml:/etc/prometheus/alerts.yml");

    List<?> groups = (List<?>) load("docs/operations/alerts.yml").get("groups");
    assertThat(groups.stream().flatMap(group -> ((List<?>) map(group).get("rules")).stream()))
        .isNotEmpty()
        .allSatisfy(rule -> {
          assertThat(map(rule).get("alert")).isInstanceOf(String.class);
          assertThat(map(rule).get("expr")).isInstanceOf(String.class);
          assertThat(map(map(rule).get("labels")).get("severity")).isIn("critical", "warning");
          assertThat(map(map(rule).get("annotations")).get("summary")).isInstanceOf(String.class);
        });
  }

  private static String collectorIn(String source) throws IOException {
    return Pattern.compile("\"(-XX:[+]Use\\w+GC|-XX:NewRatio=\\d+)\"")
        .matcher(Files.readString(ROOT.resolve(source)))
        .results()
        .map(flag -> flag.group(1))
        .collect(Collectors.joining(" "));
  }

  private Map<?, ?> services() {
    return map(compose.get("services"));
  }

  private Map<?, ?> service(String name) {
    return map(services().get(name));
  }

  private List<String> ports(String name) {
    return ((List<?>) service(name).get("ports")).stream().map(String::valueOf).toList();
  }

  private static Map<?, ?> map(Object node) {
    return (Map<?, ?>) node;
  }

  private static Map<?, ?> load(String file) {
    try (var reader = Files.newBufferedReader(ROOT.resolve(file))) {
      return new Yaml().load(reader);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
