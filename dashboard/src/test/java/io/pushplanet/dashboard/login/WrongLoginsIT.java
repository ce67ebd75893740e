package io.pushplanet.dashboard.login;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.dashboard.DashboardSettings;
import io.pushplanet.dashboard.RunningDashboard;
import io.pushplanet.dashboard.audit.AuditLog;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.AuthenticationException;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.web.authentication.WebAuthenticationDetails;

class WrongLoginsIT {
  private static final int MOST = 6;

  private final RunningDashboard dashboard = RunningDashboard.shared();
  private final MutableClock clock = MutableClock.started();
  private final OperatorAuthentication authentication = authentication();

  @Test
  void an_address_that_fails_too_often_is_asked_for_no_password() {
    for (int i = 0; i < MOST; i++) {
      assertThat(login("spray-" + i, "192.0.2.1")).isInstanceOf(BadCredentialsException.class);
    }

    for (int i = MOST; i < 3 * MOST; i++) {
      assertThat(login("spray-" + i, "192.0.2.1")).isInstanceOf(AddressLockedException.class);
    }
    assertThat(login("spray-elsewhere", "192.0.2.2")).isInstanceOf(BadCredentialsException.class);
    assertThat(audited("spray-%")).hasSize(MOST + 2).containsOnlyOnce("login_locked 192.0.2.1");

    clock.advance(WrongLogins.LOCK.plusMillis(1));
    assertThat(login("spray-later", "192.0.2.1")).isInstanceOf(BadCredentialsException.class);
  }

  @Test
  void addresses_of_one_network_of_ipv6_are_one() {
    for (int i = 0; i < MOST; i++) {
      assertThat(login("six-" + i, "2001:db8:1:2:0:0:0:" + i))
          .isInstanceOf(BadCredentialsException.class);
    }

    assertThat(login("six", "2001:db8:1:2:ffff:0:0:1")).isInstanceOf(AddressLockedException.class);
    assertThat(login("six", "2001:db8:1:3:0:0:0:1")).isInstanceOf(BadCredentialsException.class);
    assertThat(audited("six-%")).contains("login_locked 20010db800010002::/64");
  }

  private AuthenticationException login(String name, String address) {
    var login = UsernamePasswordAuthenticationToken.unauthenticated(name, "wrong");
    login.setDetails(new WebAuthenticationDetails(address, null));
    try {
      authentication.authenticate(login);
    } catch (AuthenticationException e) {
      return e;
    }
    throw new AssertionError(name + " was let in");
  }

  private List<String> audited(String names) {
    return dashboard
        .sql()
        .queryForList(
            "SELECT CONCAT(action, ' ', subject) FROM audit WHERE operator LIKE ?",
            String.class,
            names);
  }

  private OperatorAuthentication authentication() {
    DashboardSettings settings =
        new DashboardSettings(
            URI.create("http://127.0.0.1:1"),
            Duration.ofSeconds(1),
            1,
            MOST,
            Duration.ofSeconds(1),
            Duration.ofDays(1),
            Duration.ofDays(1),
            new DashboardSettings.BootstrapOperator(null, null));
    OperatorMapper operators = dashboard.bean(OperatorMapper.class);
    AuditLog audit = dashboard.bean(AuditLog.class);
    return new OperatorAuthentication(
        operators,
        dashboard.bean(FirstOperator.class),
        dashboard.bean(PasswordEncoder.class),
        audit,
        new WrongLogins(operators, audit, clock, settings),
        clock,
        settings);
  }
}
