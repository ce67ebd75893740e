package io.pushplanet.quickstart.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.pushplanet.quickstart.platform.Listener;
import io.pushplanet.quickstart.platform.OnDeath;
import io.pushplanet.quickstart.platform.Plan;
import io.pushplanet.quickstart.platform.Ports;
import io.pushplanet.quickstart.platform.Program;
import io.pushplanet.quickstart.platform.PublicAddress;
import io.pushplanet.quickstart.services.ServicesChoice;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UpOptionsTest {
  private static final Path ROOT = Path.of("/repository");

  @Test
  void without_options_the_usual_ports_and_the_auto_rule_apply() {
    Plan plan = parse().plan();

    assertThat(plan.services()).isEqualTo(ServicesChoice.AUTO);
    assertThat(plan.state()).isEqualTo(ROOT.resolve(".pushplanet"));
    assertThat(plan.ports().of(Listener.DISPATCHER)).isEqualTo(8080);
    assertThat(plan.ports().of(Listener.DASHBOARD)).isEqualTo(8081);
    assertThat(plan.ports().of(Listener.MQTT)).isEqualTo(1883);
    assertThat(plan.ports().of(Listener.MQTT_TLS)).isEqualTo(8883);
    assertThat(plan.ports().of(Listener.NODE)).isEqualTo(1884);
    assertThat(plan.ports().of(Listener.CM_MANAGEMENT)).isEqualTo(9083);
    assertThat(parse().detach()).isFalse();
  }

  @Test
  void only_this_machine_reaches_the_platform_unless_it_is_told_otherwise() {
    assertThat(parse().plan().address()).isEqualTo(PublicAddress.THIS_MACHINE);
    assertThat(parse("--bind=127.0.0.1").plan().address()).isEqualTo(PublicAddress.THIS_MACHINE);
    assertThat(parse("--bind=0.0.0.0").plan().address())
        .isEqualTo(PublicAddress.parse("0.0.0.0"))
        .isNotEqualTo(PublicAddress.THIS_MACHINE);
  }

  @Test
  void the_environment_chooses_the_services_unless_the_option_does() {
    Map<String, String> environment = Map.of("PUSHPLANET_SERVICES", "embedded");
    List<String> option = List.of("--services=installed");

    assertThat(UpOptions.parse(ROOT, List.of(), environment).plan().services())
        .isEqualTo(ServicesChoice.EMBEDDED);
    assertThat(UpOptions.parse(ROOT, option, environment).plan().services())
        .isEqualTo(ServicesChoice.INSTALLED);
    assertThatExceptionOfType(Refusal.class)
        .isThrownBy(() -> UpOptions.parse(ROOT, List.of(), Map.of("PUSHPLANET_SERVICES", "docker")))
        .withMessageContaining("PUSHPLANET_SERVICES: services is 'docker'");
    assertThatExceptionOfType(Refusal.class)
        .isThrownBy(
            () -> UpOptions.parse(ROOT, List.of(), Map.of("PUSHPLANET_SERVICES", "external")))
        .withMessageContaining("PUSHPLANET_SERVICES is external, but --mysql is missing");
  }

  @Test
  void classes_are_learnt_unless_told_otherwise() {
    assertThat(parse().train()).isTrue();
    assertThat(parse("--train").train()).isTrue();
    assertThat(parse("--no-train").train()).isFalse();
    assertThatExceptionOfType(Refusal.class)
        .isThrownBy(() -> parse("--train", "--no-train"))
        .withMessageContaining("exclude each other");
  }

  @Test
  void a_death_ends_everything_unless_told_otherwise() {
    assertThat(parse().onDeath()).isEqualTo(OnDeath.STOP);
    assertThat(parse("--on-death=stop").onDeath()).isEqualTo(OnDeath.STOP);
    assertThat(parse("--on-death=restart").onDeath()).isEqualTo(OnDeath.RESTART);
  }

  @Test
  void an_offset_moves_the_usual_ports_but_not_the_chosen_ones() {
    Ports ports = parse("--port-offset=100", "--mqtt-port=2883").plan().ports();

    assertThat(ports.of(Listener.DISPATCHER)).isEqualTo(8180);
    assertThat(ports.of(Listener.MQTT)).isEqualTo(2883);
    assertThat(ports.of(Listener.MYSQL)).isZero();
  }

  @Test
  void free_ports_are_all_chosen_by_the_system_but_those_given() {
    Ports ports = parse("--ports=free", "--dispatcher-port=8080").plan().ports();

    assertThat(ports.of(Listener.DISPATCHER)).isEqualTo(8080);
    assertThat(ports.of(Listener.DASHBOARD)).isZero();
  }

  @Test
  void external_services_need_all_three_addresses() {
    assertThatExceptionOfType(Refusal.class)
        .isThrownBy(() ->
            parse(
                "--services=external",
                "--mysql=jdbc:mysql://db:3307/push",
                "--redis=redis://r:6379"))
        .withMessageContaining("--amqp is missing");

    var external =
        Objects.requireNonNull(
            parse(
                    "--services=external",
                    "--mysql=jdbc:mysql://db:3307/push",
                    "--mysql-user=u",
                    "--mysql-password=p",
                    "--redis=redis://r:6379",
                    "--amqp=amqp://a")
                .plan()
                .external());

    assertThat(external.mysql().port()).isEqualTo(3307);
    assertThat(external.mysql().toString()).doesNotContain("p]");
  }

  @Test
  void addresses_of_services_without_external_are_a_mistake() {
    assertThatExceptionOfType(Refusal.class)
        .isThrownBy(() -> parse("--mysql=jdbc:mysql://db/push"))
        .withMessageContaining("--services=external");
    assertThatExceptionOfType(Refusal.class)
        .isThrownBy(() -> parse("--mysql-user=u"))
        .withMessageContaining("--services=external");
  }

  @Test
  void ports_are_free_or_moved_but_not_both() {
    assertThatExceptionOfType(Refusal.class)
        .isThrownBy(() -> parse("--ports=free", "--port-offset=100"))
        .withMessageContaining("--port-offset");
  }

  @ParameterizedTest
  @CsvSource({
    "--services=docker, embedded",
    "--ports=any, free",
    "--bind=localhost, 0.0.0.0",
    "--bind=::, IPv4 address of this machine",
    "--bind=203.0.113.1, of this machine",
    "--bind=, of this machine",
    "--mqtt-port=abc, number",
    "--mqtt-port=70000, 65535",
    "--on-death=cry, stop",
    "--without=simulators, 'dispatcher-api, gateway-worker, connection-manager, dashboard'",
    "--without=, separated by commas",
    "--set=nothing, KEY=VALUE",
    "--state=, directory",
    "word, word"
  })
  void a_wrong_value_is_refused_with_what_is_possible(String argument, String told) {
    assertThatExceptionOfType(Refusal.class)
        .isThrownBy(() -> parse(argument))
        .withMessageContaining(told);
  }

  @Test
  void programs_that_are_not_started_are_separated_by_commas() {
    assertThat(parse("--without=dashboard,gateway-worker").plan().without())
        .containsExactlyInAnyOrder(Program.DASHBOARD, Program.WORKER);
  }

  @Test
  void each_setting_is_given_once_whatever_the_way_it_is_spelt() {
    assertThat(parse("--set=server.tomcat.a=1s", "--set", "spring.b=n").plan().settings())
        .isEqualTo(Map.of("server.tomcat.a", "1s", "spring.b", "n"));

    assertThatExceptionOfType(Refusal.class)
        .isThrownBy(() -> parse("--set=spring.a-b=a", "--set=spring.aB=b"))
        .withMessageContaining("spring.a-b")
        .withMessageContaining("spring.aB");
  }

  private static UpOptions parse(String... arguments) {
    return UpOptions.parse(ROOT, List.of(arguments), Map.of());
  }
}
