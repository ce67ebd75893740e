package io.pushplanet.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.MessageProperties;
import io.lettuce.core.RedisClient;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.node.NodeLease;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.dashboard.browser.Chromium;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.ibatis.executor.Executor;
import org.apache.ibatis.mapping.MappedStatement;
import org.apache.ibatis.plugin.Interceptor;
import org.apache.ibatis.plugin.Intercepts;
import org.apache.ibatis.plugin.Invocation;
import org.apache.ibatis.plugin.Signature;
import org.apache.ibatis.session.ResultHandler;
import org.apache.ibatis.session.RowBounds;
import org.junit.jupiter.api.Test;

class OverviewIT {
  private final RunningDashboard dashboard = RunningDashboard.shared();

  @Test
  void queues_nodes_and_numbers_refresh_by_themselves() throws Exception {
    try (Chromium chromium = Chromium.open(dashboard.address());
        Connection broker = dashboard.bean(ConnectionFactory.class).newConnection();
        Channel channel = broker.createChannel();
        RedisLink redis = RedisLink.open(dashboard.bean(RedisClient.class))) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD).go("/");
      chromium.waitFor("#charts[data-drawn]");

      Topology.declare(broker);
      for (int i = 0; i < 4_321; i++) {
        channel.basicPublish(
            "", "push.events", MessageProperties.PERSISTENT_BASIC, new byte[] {'[', ']'});
      }
      channel.basicPublish(
          "", Topology.DEAD, MessageProperties.PERSISTENT_BASIC, new byte[] {'[', ']'});
      new SessionDirectory(redis, Clock.systemUTC())
          .heartbeat(
              new NodeLease(
                  new NodeId("node-a"),
                  "127.0.0.1",
                  1884,
                  1883,
                  9083,
                  8_765,
                  false,
                  // A lease that outlasts this test.
                  Instant.now().plusSeconds(300)));

      Eventually.within(
          Duration.ofSeconds(60),
          () ->
              assertThat(chromium.text())
                  .contains("4,321")
                  .contains("no consumer")
                  .contains("node-a")
                  .contains("8,765"));
      chromium.picture("overview-busy-light");
      assertThat(
              chromium.script(
                  "return [...document.querySelectorAll('tr')].find(row => row.innerText.includes('push.dead')).innerText"))
          .asString()
          .contains("needs you")
          .doesNotContain("no consumer");
      for (int width : new int[] {1_280, 1_024, 390}) {
        chromium.size(width, 900);
        assertThat(
                chromium.script(
                    "const queues = document.querySelector('.scroll'); return queues.scrollWidth - queues.clientWidth"))
            .as("what of the queues is beyond the edge at " + width + " px")
            .isEqualTo(0L);
      }
      chromium.picture("overview-busy-phone-light");
      chromium.focusUntilReplaced("#cards a[href='/dead-letters']");
      assertThat(chromium.focused()).isEqualTo("push.dead");
      channel.queuePurge("push.events");
      channel.queuePurge(Topology.DEAD);
      assertThat(chromium.complaints()).isEmpty();
    }
  }

  @Test
  void the_charts_show_times_in_utc() {
    DateTimeFormatter minute = DateTimeFormatter.ofPattern("HH:mm").withZone(ZoneOffset.UTC);
    try (Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.timezone("Asia/Kathmandu");
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
      // The dashboard keeps its figures for four seconds.
      Instant before = Instant.now().minusSeconds(4);
      chromium.go("/").waitFor("#charts[data-drawn]");
      Object newest = chromium.script("return Chart.getChart('flow').data.labels.at(-1)");
      List<String> meanwhile =
          Stream.iterate(
                  before.truncatedTo(ChronoUnit.MINUTES),
                  at -> !at.isAfter(Instant.now()),
                  at -> at.plusSeconds(60))
              .map(minute::format)
              .toList();

      assertThat(newest).isIn(meanwhile);
      assertThat(chromium.text()).contains("Times are UTC");
    }
  }

  @Test
  void charts_that_cannot_be_refreshed_are_said_to_be_out_of_date() {
    try (Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
      chromium.go("/").waitFor("#charts[data-drawn]");
      assertThat(chromium.text()).doesNotContain("out of date");

      // Only the charts use fetch.
      chromium.script("window.real = fetch; window.fetch = () => Promise.reject('no answer')");
      Eventually.within(
          Duration.ofSeconds(60), () -> assertThat(chromium.text()).contains("out of date"));

      chromium.script("window.fetch = window.real");
      Eventually.within(
          Duration.ofSeconds(60), () -> assertThat(chromium.text()).doesNotContain("out of date"));
    }
  }

  @Test
  void behind_a_path_of_a_shared_host_the_charts_are_drawn() {
    RunningDashboard below =
        RunningDashboard.start(
            dashboard.services(), Map.of("server.servlet.context-path", "/push"));
    try (Chromium chromium = Chromium.open(below.address() + "/push")) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

      chromium.go("/").waitFor("#charts[data-drawn]");

      assertThat(chromium.complaints()).isEmpty();
    } finally {
      below.stop();
    }
  }

  @Test
  void queues_and_nodes_are_refreshed_without_reading_the_statistics() throws Exception {
    RunningDashboard watched =
        RunningDashboard.start(dashboard.services(), Map.of(), ReadStatistics.class);
    try {
      ReadStatistics statistics = watched.bean(ReadStatistics.class);
      HttpOperator admin =
          HttpOperator.loggedIn(watched, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

      assertThat(admin.get("/overview/cards").body()).contains("Queues", "Nodes");
      assertThat(statistics.times).hasValue(0);

      assertThat(admin.get("/overview/figures?span=day").body()).contains("\"accepted\"");
      assertThat(statistics.times).hasValue(1);
    } finally {
      watched.stop();
    }
  }

  /// Counts the queries.
  @Intercepts(
      @Signature(
          type = Executor.class,
          method = "query",
          args = {MappedStatement.class, Object.class, RowBounds.class, ResultHandler.class}))
  static final class ReadStatistics implements Interceptor {
    private final AtomicInteger times = new AtomicInteger();

    @Override
    public Object intercept(Invocation query) throws Throwable {
      var statement = (MappedStatement) query.getArgs()[0];
      if (statement.getId().endsWith("StatisticsMapper.since")) {
        times.incrementAndGet();
      }
      return query.proceed();
    }
  }

  @Test
  void without_redis_and_the_broker_it_says_so_and_shows_the_rest() throws Exception {
    RunningDashboard alone =
        RunningDashboard.start(
            dashboard.services(),
            Map.of(
                "pushplanet.redis.uri", "redis://127.0.0.1:1",
                "pushplanet.amqp.uri", "amqp://guest:guest@127.0.0.1:1/%2f"));
    try (Chromium chromium = Chromium.open(alone.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD).go("/");

      assertThat(chromium.text())
          .contains("RabbitMQ does not answer")
          .contains("Redis does not answer")
          .contains("unknown");

      HttpOperator admin =
          HttpOperator.loggedIn(alone, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
      assertThat(admin.get("/nodes/n1/drain").headers().firstValue("Location").orElse(""))
          .endsWith("/nodes");
      admin.post("/account", "/nodes/n1/drain", "perSecond", "5");
      assertThat(admin.get("/nodes").body())
          .contains("Redis, which knows where the node is, does not answer");
      Rows rows = new Rows(alone.sql());
      rows.app("alone", "Alone");
      rows.device("alone", "d1", "android", "u1");
      assertThat(admin.get("/devices/alone/d1").body()).contains("unknown: Redis does not answer");
    } finally {
      alone.stop();
    }
  }
}
