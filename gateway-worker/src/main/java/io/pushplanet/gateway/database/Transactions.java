package io.pushplanet.gateway.database;

import javax.sql.DataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/// Makes the templates for a worker's transactions.
public final class Transactions {
  private Transactions() {}

  /// READ COMMITTED takes no gap locks: transactions wait for each other only at the same rows, and
  /// no insert waits for rows that are only next to it. Besides, each statement sees what others
  /// committed before it, also while it waited for a lock.
  public static TransactionTemplate readCommitted(DataSource database) {
    TransactionTemplate transactions =
        new TransactionTemplate(new JdbcTransactionManager(database));
    transactions.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
    return transactions;
  }
}
