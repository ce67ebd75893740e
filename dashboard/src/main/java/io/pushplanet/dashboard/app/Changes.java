package io.pushplanet.dashboard.app;

import io.pushplanet.common.change.Change;
import io.pushplanet.common.change.ChangeFeed;
import io.pushplanet.common.message.AppId;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import javax.sql.DataSource;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/// Reports a change to every process, in the transaction that makes the change; there must be one.
@Component
public class Changes {
  private final DataSource database;
  private final Clock clock;

  Changes(DataSource database, Clock clock) {
    this.database = database;
    this.clock = clock;
  }

  @Transactional(propagation = Propagation.MANDATORY)
  public void tell(Change.Kind kind, AppId app, String subject) {
    Connection connection = DataSourceUtils.getConnection(database);
    try {
      ChangeFeed.record(connection, clock, kind, app, subject);
    } catch (SQLException e) {
      throw new DataAccessResourceFailureException("a change could not be written", e);
    } finally {
      DataSourceUtils.releaseConnection(connection, database);
    }
  }
}
