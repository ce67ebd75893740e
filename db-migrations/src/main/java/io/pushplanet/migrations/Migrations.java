package io.pushplanet.migrations;

import java.util.List;
import java.util.stream.Stream;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.flywaydb.core.api.logging.Log;
import org.flywaydb.core.api.logging.LogFactory;

/// The schema's forward-only migrations. Several processes may call them at once, because Flyway
/// takes a lock. Tables in use are changed while other sessions use them, which never wait for long
/// ([PatientStatements]).
public final class Migrations {
  private static final Log LOG = LogFactory.getLog(Migrations.class);
  private static final String URL = "PUSHPLANET_MYSQL_URL";
  private static final String USER = "PUSHPLANET_MYSQL_USER";
  private static final String PASSWORD = "PUSHPLANET_MYSQL_PASSWORD";

  private Migrations() {}

  /// Applies every migration that the schema lacks.
  ///
  /// @return how many were applied
  /// @throws org.flywaydb.core.api.FlywayException when the database cannot be reached, an applied
  ///     migration was changed, or one has failed, now or before: see [#repair]
  public static int migrate(String jdbcUrl, String user, String password) {
    return flyway(jdbcUrl, user, password).migrate().migrationsExecuted;
  }

  /// Allows failed migrations to be applied again. An operator must first undo the effects of their
  /// finished statements by hand.
  ///
  /// @return the repairs
  public static List<String> repair(String jdbcUrl, String user, String password) {
    return List.copyOf(flyway(jdbcUrl, user, password).repair().repairActions);
  }

  private static Flyway flyway(String jdbcUrl, String user, String password) {
    FluentConfiguration configuration =
        Flyway.configure()
            .dataSource(jdbcUrl, user, password)
            .initSql(PatientStatements.SESSION)
            .locations("classpath:db/migration")
            .cleanDisabled(true)
            .connectRetries(10);
    return configuration
        .dataSource(PatientStatements.of(configuration.getDataSource(), LOG::warn))
        .load();
  }

  /// `java -cp … Migrations [repair]`. The database stands in the environment, because all users of
  /// a machine can read its processes' command lines.
  public static void main(String[] arguments) {
    boolean repair = List.of(arguments).equals(List.of("repair"));
    List<String> missing =
        Stream.of(URL, USER, PASSWORD).filter(variable -> environment(variable).isEmpty()).toList();
    if (!missing.isEmpty() || (arguments.length > 0 && !repair)) {
      System.err.println(
          "usage: Migrations [repair], with %s, %s and %s in the environment"
              .formatted(URL, USER, PASSWORD));
      missing.forEach(variable -> System.err.println(variable + " is missing"));
      System.exit(2);
    }
    if (repair) {
      System.out.println(
          "repaired: " + repair(environment(URL), environment(USER), environment(PASSWORD)));
    }
    System.out.println(
        "migrations applied: "
            + migrate(environment(URL), environment(USER), environment(PASSWORD)));
  }

  private static String environment(String variable) {
    return System.getenv().getOrDefault(variable, "");
  }
}
