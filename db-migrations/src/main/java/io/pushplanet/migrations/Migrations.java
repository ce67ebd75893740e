package io.pushplanet.migrations;

import org.flywaydb.core.Flyway;

/// The schema's forward-only migrations. Safe to call from several processes at once: Flyway takes a lock.
public final class Migrations {
  private Migrations() {}

  /// Applies every migration that the schema does not have yet.
  ///
  /// @return how many were applied
  /// @throws org.flywaydb.core.api.FlywayException when the database cannot be reached, or an applied migration was changed
  public static int migrate(String jdbcUrl, String user, String password) {
    return Flyway.configure()
        .dataSource(jdbcUrl, user, password)
        .locations("classpath:db/migration")
        .cleanDisabled(true)
        .connectRetries(10)
        .load()
        .migrate()
        .migrationsExecuted;
  }

  /// `java -cp … Migrations JDBC_URL USER PASSWORD`
  public static void main(String[] arguments) {
    if (arguments.length != 3) {
      System.err.println("usage: Migrations JDBC_URL USER PASSWORD");
      System.exit(2);
    }
    System.out.println("migrations applied: " + migrate(arguments[0], arguments[1], arguments[2]));
  }
}
