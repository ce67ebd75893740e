package io.pushplanet.dashboard.login;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.dashboard.DashboardSettings;
import io.pushplanet.dashboard.RunningDashboard;
import io.pushplanet.dashboard.audit.AuditLog;
import io.pushplanet.dashboard.login.OperatorAuthentication.TurnedAwayException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.authentication.LockedException;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.AuthenticationException;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.web.authentication.WebAuthenticationDetails;

class WrongLoginsIT {
  private static final int MOST = 6;

  private final RunningDashboard dashboard = RunningDashboard.shared();
  private final MutableClock clock = MutableClock.started();
  private final OperatorAuthentication authentication =
      authentication(1, dashboard.bean(PasswordEncoder.class));

  @Test
  void what_is_wrong_of_an_address_that_failed_too_often_is_not_written() {
    for (int i = 0; i < MOST; i++) {
      assertThat(login("spray-" + i, "192.0.2.1")).isInstanceOf(BadCredentialsException.class);
    }

    for (int i = MOST; i < 3 * MOST; i++) {
      assertThat(login("spray-" + i, "192.0.2.1")).isInstanceOf(BadCredentialsException.class);
    }
    assertThat(login("spray-elsewhere", "192.0.2.2")).isInstanceOf(BadCredentialsException.class);
    assertThat(audited("spray-%")).hasSize(MOST + 2).containsOnlyOnce("login_locked 192.0.2.1");

    clock.advance(WrongLogins.LOCK.plusMillis(1));
    login("spray-later", "192.0.2.1");
    assertThat(audited("spray-later")).hasSize(1);
  }

  /// It may be a proxy's, and that of all operators.
  @Test
  void a_right_password_gets_in_from_an_address_that_failed_too_often() {
    for (int i = 0; i < 2 * MOST; i++) {
      login("stranger-" + i, "192.0.2.3");
    }

    assertThat(authentication.authenticate(admin("192.0.2.3")).isAuthenticated()).isTrue();
  }

  @Test
  void a_flood_of_made_up_names_from_there_takes_one_check_and_no_operators_turn()
      throws Exception {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor();
        var passwords = new SlowForWrongOnes()) {
      OperatorAuthentication besieged = authentication(2, passwords);
      for (int i = 0; i < MOST; i++) {
        threads.submit(() -> login(besieged, "first", "192.0.2.5"));
        passwords.letGo(1);
      }
      Eventually.within(
          Duration.ofSeconds(60),
          () -> assertThat(audited("first")).contains("login_locked 192.0.2.5"));

      Future<AuthenticationException> slow =
          threads.submit(() -> login(besieged, "flood", "192.0.2.5"));
      passwords.awaitChecked(MOST + 1);
      for (int i = 0; i < 100; i++) {
        String name = "flood-" + i;
        assertThat(
                threads.submit(() -> login(besieged, name, "192.0.2.5")).get(60, TimeUnit.SECONDS))
            .isInstanceOf(BadCredentialsException.class);
      }

      assertThat(passwords.checked()).isEqualTo(MOST + 1);
      assertThat(besieged.authenticate(admin("192.0.2.5")).isAuthenticated()).isTrue();
      assertThat(slow).isNotDone();
    }
  }

  @Test
  void so_many_wait_for_a_check_and_whoever_comes_then_is_turned_away_at_once() throws Exception {
    int have = 1 + OperatorAuthentication.MOST_WAITING;
    int come = have + 3;
    try (var threads = Executors.newVirtualThreadPerTaskExecutor();
        var passwords = new SlowForWrongOnes()) {
      OperatorAuthentication besieged = authentication(1, passwords);
      var answers = new LinkedBlockingQueue<AuthenticationException>();
      for (int i = 0; i < come; i++) {
        String address = "198.51.100." + i;
        threads.submit(() -> answers.add(login(besieged, "many", address)));
      }

      for (int i = have; i < come; i++) {
        assertThat(answers.poll(60, TimeUnit.SECONDS)).isInstanceOf(TurnedAwayException.class);
      }
      passwords.letGo(have);
      for (int i = 0; i < have; i++) {
        assertThat(answers.poll(60, TimeUnit.SECONDS)).isInstanceOf(BadCredentialsException.class);
      }
    }
  }

  /// A wrong password is not found wrong before it is let go.
  private static final class SlowForWrongOnes implements PasswordEncoder, AutoCloseable {
    private final Semaphore free = new Semaphore(0);
    private final AtomicInteger checked = new AtomicInteger();

    @Override
    public String encode(CharSequence password) {
      return "";
    }

    @Override
    public boolean matches(CharSequence password, String stored) {
      if (RunningDashboard.PASSWORD.contentEquals(password)) {
        return true;
      }
      checked.incrementAndGet();
      free.acquireUninterruptibly();
      return false;
    }

    int checked() {
      return checked.get();
    }

    void awaitChecked(int so) {
      Eventually.within(Duration.ofSeconds(60), () -> assertThat(checked()).isEqualTo(so));
    }

    void letGo(int some) {
      free.release(some);
    }

    @Override
    public void close() {
      letGo(1_000);
    }
  }

  @Test
  void a_name_is_locked_from_such_an_address_too() {
    for (int i = 0; i < MOST; i++) {
      login("crowd-" + i, "192.0.2.4");
    }
    dashboard
        .sql()
        .update(
            "INSERT INTO operators (name, password, role, created_at) VALUES ('crowded', '', 'viewer', NOW(3))");

    for (int i = 1; i < WrongLogins.MOST_OF_A_NAME; i++) {
      assertThat(login("crowded", "192.0.2.4")).isInstanceOf(BadCredentialsException.class);
    }
    assertThat(login("crowded", "192.0.2.4")).isInstanceOf(LockedException.class);
  }

  @Test
  void addresses_of_one_network_of_ipv6_are_one() {
    for (int i = 0; i < MOST; i++) {
      assertThat(login("six-" + i, "2001:db8:1:2:0:0:0:" + i))
          .isInstanceOf(BadCredentialsException.class);
    }

    login("sixth", "2001:db8:1:2:ffff:0:0:1");
    login("sixth-elsewhere", "2001:db8:1:3:0:0:0:1");
    assertThat(audited("six-%")).contains("login_locked 20010db800010002::/64");
    assertThat(audited("sixth")).isEmpty();
    assertThat(audited("sixth-elsewhere")).hasSize(1);
  }

  private static Authentication admin(String address) {
    var login =
        UsernamePasswordAuthenticationToken.unauthenticated(
            RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
    login.setDetails(new WebAuthenticationDetails(address, null));
    return login;
  }

  private AuthenticationException login(String name, String address) {
    return login(authentication, name, address);
  }

  private static AuthenticationException login(
      OperatorAuthentication authentication, String name, String address) {
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

  private OperatorAuthentication authentication(int checks, PasswordEncoder passwords) {
    DashboardSettings settings =
        new DashboardSettings(
            URI.create("http://127.0.0.1:1"),
            Duration.ofSeconds(1),
            checks,
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
        passwords,
        audit,
        new WrongLogins(operators, audit, clock, settings),
        clock,
        settings);
  }
}
