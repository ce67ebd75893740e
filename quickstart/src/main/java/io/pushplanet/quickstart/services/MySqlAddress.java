package io.pushplanet.quickstart.services;

/// The address and login of MySQL (or MariaDB). The JDBC URL names an existing database.
public record MySqlAddress(String jdbcUrl, String user, String password, String host, int port) {

  static MySqlAddress local(int port) {
    // rewriteBatchedStatements: without it a batch takes one round trip per row. The other
    // parameters make every time UTC.
    String url =
        "jdbc:mysql://127.0.0.1:"
            + port
            + "/"
            + MariaDbServer.DATABASE
            + "?sslMode=DISABLED&allowPublicKeyRetrieval=true&rewriteBatchedStatements=true"
            + "&connectionTimeZone=UTC&forceConnectionTimeZoneToSession=true";
    return new MySqlAddress(url, MariaDbServer.USER, MariaDbServer.PASSWORD, "127.0.0.1", port);
  }

  /// The same server with another user, or a URL given by hand.
  public static MySqlAddress of(String jdbcUrl, String user, String password) {
    String prefix = "jdbc:mysql://";
    if (!jdbcUrl.startsWith(prefix)) {
      throw new IllegalArgumentException(
          "the MySQL address '" + jdbcUrl + "' must start with " + prefix);
    }
    var uri = java.net.URI.create("mysql://" + jdbcUrl.substring(prefix.length()));
    String host = uri.getHost();
    if (host == null) {
      throw new IllegalArgumentException("the MySQL address '" + jdbcUrl + "' names no host");
    }
    return new MySqlAddress(
        jdbcUrl, user, password, host, uri.getPort() < 0 ? 3306 : uri.getPort());
  }

  @Override
  public String toString() {
    return "MySqlAddress[" + user + "@" + host + ":" + port + "]";
  }
}
