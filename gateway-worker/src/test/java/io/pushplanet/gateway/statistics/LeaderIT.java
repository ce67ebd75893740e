package io.pushplanet.gateway.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.gateway.RealServers;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

class LeaderIT {
  private final RealServers servers = RealServers.start();

  @AfterEach
  void close() {
    servers.sql().execute("DROP DATABASE IF EXISTS another_platform");
    servers.close();
  }

  @Test
  void one_worker_at_a_time_leads_for_each_schema() {
    servers.sql().execute("CREATE DATABASE IF NOT EXISTS another_platform");
    Leader leader = new Leader(servers.database(), "uplink-retention");
    Leader colleague = new Leader(servers.database(), "uplink-retention");
    Leader stranger = new Leader(anotherSchema(), "uplink-retention");

    String done =
        leader.lead(
            "not done",
            _ ->
                colleague.lead("not done", _ -> "done")
                    + ", "
                    + stranger.lead("not done", _ -> "done"));

    assertThat(done).isEqualTo("not done, done");
    assertThat(colleague.lead("not done", _ -> "done")).isEqualTo("done");
  }

  private DataSource anotherSchema() {
    var mysql = servers.services().mysql();
    return new DriverManagerDataSource(
        mysql.jdbcUrl().replaceFirst("(://[^/]+/)[^?]*", "$1another_platform"),
        mysql.user(),
        mysql.password());
  }
}
