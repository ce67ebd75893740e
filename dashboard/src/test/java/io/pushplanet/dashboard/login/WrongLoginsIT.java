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
import java.util.ArrayList;
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
  private final RunningDashboard dashboard = RunningDashboard.shared();
  private final MutableClock clock = MutableClock.started();
  private final OperatorAuthentication authentication =
      authentication(1, dashboard.bean(PasswordEncoder.class));

  @Test
  void few_logins_of_unknown_names_are_recorded() {
    for (int i = 1; i <= 120; i++) {
      assertThat(login("spray-" + i, "192.0.2.1")).isInstanceOf(BadCredentialsException.class);
    }

    assertThat(audited("spray-%"))
        .containsExactly(
            "login_failed spray-1: unknown name, from 192.0.2.1",
            "login_failed spray-2: unknown name, from 192.0.2.1",
            "login_failed spray-3: unknown name, from 192.0.2.1",
            "login_failed spray-4: unknown name, from 192.0.2.1",
            "login_failed spray-5: unknown name, from 192.0.2.1",
            "login_failed spray-10: unknown name, the 10th in this minute, from 192.0.2.1",
            "login_failed spray-100: unknown name, the 100th in this minute, from 192.0.2.1");
    clock.advance(Duration.ofMinutes(1));
    login("sprayed-later", "192.0.2.1");
    assertThat(audited("sprayed-later")).hasSize(1);
  }

  /// The address may be that of a proxy, and so of all operators.
  @Test
  void a_right_password_gets_in_from_where_many_names_were_made_up() {
    for (int i = 0; i < 20; i++) {
      login("stranger-" + i, "192.0.2.3");
    }

    assertThat(authentication.authenticate(admin("192.0.2.3")).isAuthenticated()).isTrue();
  }

  /// A single customer has this many networks of IPv6.
  @Test
  void a_flood_of_made_up_names_delays_no_operator() throws Exception {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor();
        var passwords = new SlowForWrongOnes()) {
      OperatorAuthentication besieged = authentication(2, passwords);
      Future<AuthenticationException> slow =
          threads.submit(() -> login(besieged, "flood", "2001:db8:1:0:0:0:0:1"));
      passwords.awaitChecked(1);

      List<Future<AuthenticationException>> flood = new ArrayList<>();
      for (int network = 1; network < 256; network++) {
        String name = "flood-" + network;
        String address = "2001:db8:1:" + Integer.toHexString(network) + ":0:0:0:1";
        flood.add(threads.submit(() -> login(besieged, name, address)));
      }

      assertThat(besieged.authenticate(admin("2001:db8:2:0:0:0:0:1")).isAuthenticated()).isTrue();
      for (Future<AuthenticationException> one : flood) {
        assertThat(one.get(60, TimeUnit.SECONDS)).isInstanceOf(BadCredentialsException.class);
      }
      assertThat(passwords.checked()).isOne();
      assertThat(slow).isNotDone();
    }
  }

  /// A check takes a tenth of a second: without it, the time of an answer would show which names
  /// exist.
  @Test
  void a_made_up_name_costs_the_check_of_a_wrong_password() {
    PasswordEncoder real = dashboard.bean(PasswordEncoder.class);
    operator("timed", String.valueOf(real.encode(RunningDashboard.PASSWORD)));
    var passwords = new Seen(real);
    OperatorAuthentication watched = authentication(1, passwords);

    assertThat(login(watched, "timed", "192.0.2.5")).isInstanceOf(BadCredentialsException.class);
    assertThat(login(watched, "timed-not", "192.0.2.5"))
        .isInstanceOf(BadCredentialsException.class);

    assertThat(passwords.stored).hasSize(2);
    assertThat(cost(passwords.stored.getLast())).isEqualTo(cost(passwords.stored.getFirst()));
  }

  /// The kind of a hash and its strength: `$2a$11$`.
  private static String cost(String stored) {
    return stored.substring(0, stored.lastIndexOf('$') + 1);
  }

  /// Keeps what passwords are compared with.
  private static final class Seen implements PasswordEncoder {
    private final PasswordEncoder real;
    private final List<String> stored = new ArrayList<>();

    Seen(PasswordEncoder real) {
      this.real = real;
    }

    @Override
    public String encode(CharSequence password) {
      return String.valueOf(real.encode(password));
    }

    @Override
    public boolean matches(CharSequence password, String hash) {
      stored.add(hash);
      return real.matches(password, hash);
    }
  }

  @Test
  void a_login_is_refused_at_once_when_too_many_wait() throws Exception {
    operator("many");
    int have = 1 + OperatorAuthentication.MAX_WAITING;
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
        assertThat(answers.poll(60, TimeUnit.SECONDS))
            .isInstanceOfAny(BadCredentialsException.class, LockedException.class);
      }
    }
  }

  /// A check of a wrong password ends only when the test lets it.
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
  void a_name_is_locked_also_where_many_names_were_made_up() {
    for (int i = 0; i < 20; i++) {
      login("crowd-" + i, "192.0.2.4");
    }
    operator("crowded");

    for (int i = 1; i < WrongLogins.MAX_OF_A_NAME; i++) {
      assertThat(login("crowded", "192.0.2.4")).isInstanceOf(BadCredentialsException.class);
    }
    assertThat(login("crowded", "192.0.2.4")).isInstanceOf(LockedException.class);
    assertThat(audited("crowded"))
        .hasSize(WrongLogins.MAX_OF_A_NAME + 1)
        .contains("login_failed crowded: wrong password, from 192.0.2.4");
  }

  private void operator(String name) {
    operator(name, "");
  }

  private void operator(String name, String password) {
    dashboard
        .sql()
        .update(
            "REPLACE INTO operators (name, password, role, created_at) VALUES (?, ?, 'viewer', NOW(3))",
            name,
            password);
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
            "SELECT CONCAT(action, ' ', operator, ': ', detail) FROM audit WHERE operator LIKE ? ORDER BY id",
            String.class,
            names);
  }

  private OperatorAuthentication authentication(int checks, PasswordEncoder passwords) {
    DashboardSettings settings =
        new DashboardSettings(
            URI.create("http://127.0.0.1:1"),
            Duration.ofSeconds(1),
            checks,
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
        new WrongLogins(operators, audit, clock),
        clock,
        settings);
  }
}
