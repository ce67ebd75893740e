package io.pushplanet.dashboard.login;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.common.access.Secret;
import io.pushplanet.dashboard.DashboardSettings;
import io.pushplanet.dashboard.Refusing;
import io.pushplanet.dashboard.RunningDashboard;
import io.pushplanet.dashboard.audit.AuditLog;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessException;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.transaction.support.TransactionTemplate;

class FirstOperatorIT {
  private static final String NAME = "first-of-all";

  private final RunningDashboard dashboard = RunningDashboard.shared();

  @Test
  void there_is_no_first_operator_without_an_audit_entry() {
    FirstOperator first =
        new FirstOperator(
            new DashboardSettings(
                URI.create("http://127.0.0.1:1"),
                Duration.ofSeconds(1),
                1,
                Duration.ofSeconds(1),
                Duration.ofDays(1),
                Duration.ofDays(1),
                new DashboardSettings.BootstrapOperator(NAME, new Secret("a password of its own"))),
            asIfThereWereNone(dashboard.bean(OperatorMapper.class)),
            dashboard.bean(PasswordEncoder.class),
            dashboard.bean(AuditLog.class),
            dashboard.bean(TransactionTemplate.class),
            Clock.systemUTC());

    try (var _ = Refusing.of(dashboard.sql(), "INSERT ON audit", "NEW.operator = '" + NAME + "'")) {
      assertThatThrownBy(first::ensure).isInstanceOf(DataAccessException.class);
    }
    assertThat(rows("operators WHERE name = ?")).isZero();

    first.ensure();
    assertThat(rows("operators WHERE name = ?")).isOne();
    assertThat(rows("audit WHERE operator = ? AND action = 'operator_created'")).isOne();
    dashboard.sql().update("DELETE FROM operators WHERE name = ?", NAME);
  }

  private static OperatorMapper asIfThereWereNone(OperatorMapper operators) {
    return (OperatorMapper)
        Proxy.newProxyInstance(
            OperatorMapper.class.getClassLoader(),
            new Class<?>[] {OperatorMapper.class},
            (_, method, arguments) ->
                method.getName().equals("any") ? false : method.invoke(operators, arguments));
  }

  private long rows(String where) {
    return dashboard.sql().queryForObject("SELECT COUNT(*) FROM " + where, Long.class, NAME);
  }
}
