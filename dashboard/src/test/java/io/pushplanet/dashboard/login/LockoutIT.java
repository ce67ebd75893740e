package io.pushplanet.dashboard.login;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.dashboard.DashboardSettings;
import io.pushplanet.dashboard.RunningDashboard;
import io.pushplanet.dashboard.audit.AuditLog;
import java.net.URI;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.security.authentication.LockedException;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.AuthenticationException;
import org.springframework.security.crypto.password.PasswordEncoder;

class LockoutIT {
  private static final String NAME = "besieged";
  private static final String RIGHT = "the right one";
  private static final int WRONG = 20;

  private final RunningDashboard dashboard = RunningDashboard.shared();

  @Test
  void a_right_password_among_many_simultaneous_wrong_ones_is_refused() throws Exception {
    operator();
    var passwords = new Burst();
    OperatorAuthentication authentication = authentication(passwords);

    List<String> refusals = new ArrayList<>();
    String answer;
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<String> right = threads.submit(() -> login(authentication, RIGHT));
      List<Future<String>> wrong = new ArrayList<>();
      for (int i = 0; i < WRONG; i++) {
        String password = "wrong " + i;
        wrong.add(threads.submit(() -> login(authentication, password)));
      }
      for (Future<String> one : wrong) {
        refusals.add(one.get(60, TimeUnit.SECONDS));
      }
      passwords.wrongOnesAreCounted.countDown();
      answer = right.get(60, TimeUnit.SECONDS);
    }

    assertThat(answer).isEqualTo("locked");
    // Which of the two depends on timing: each login may find that the others have locked the name.
    assertThat(refusals).hasSize(WRONG).isSubsetOf("refused", "locked");
    assertThat(
            dashboard
                .sql()
                .queryForMap(
                    "SELECT failed_logins, IF(locked_until > NOW(3), 'yes', 'no') AS locked, last_login_at FROM operators WHERE name = ?",
                    NAME))
        .containsEntry("failed_logins", WrongLogins.MAX_OF_A_NAME)
        .containsEntry("locked", "yes")
        .containsEntry("last_login_at", null);
    assertThat(audited("login_failed")).isEqualTo(WrongLogins.MAX_OF_A_NAME);
    assertThat(audited("login_locked")).isOne();

    for (int i = 0; i < 10; i++) {
      assertThat(login(authentication, RIGHT)).isEqualTo("locked");
    }
    assertThat(audited("login_locked")).as("what a lock refuses is not written").isOne();
  }

  private long audited(String action) {
    return dashboard
        .sql()
        .queryForObject(
            "SELECT COUNT(*) FROM audit WHERE operator = ? AND action = ?",
            Long.class,
            NAME,
            action);
  }

  /// Every login has read that the name is not locked before any password is found wrong, and the
  /// right password is found when all wrong ones are counted.
  private static final class Burst implements PasswordEncoder {
    private final CountDownLatch begun = new CountDownLatch(WRONG + 1);
    private final CountDownLatch wrongOnesAreCounted = new CountDownLatch(1);

    @Override
    public String encode(CharSequence password) {
      return "";
    }

    @Override
    public boolean matches(CharSequence password, String stored) {
      boolean right = RIGHT.contentEquals(password);
      begun.countDown();
      await(begun);
      if (right) {
        await(wrongOnesAreCounted);
      }
      return right;
    }

    private static void await(CountDownLatch latch) {
      try {
        assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private static String login(OperatorAuthentication authentication, String password) {
    try {
      authentication.authenticate(
          UsernamePasswordAuthenticationToken.unauthenticated(NAME, password));
      return "in";
    } catch (LockedException e) {
      return "locked";
    } catch (AuthenticationException e) {
      return "refused";
    }
  }

  private OperatorAuthentication authentication(PasswordEncoder passwords) {
    return new OperatorAuthentication(
        dashboard.bean(OperatorMapper.class),
        dashboard.bean(FirstOperator.class),
        passwords,
        dashboard.bean(AuditLog.class),
        dashboard.bean(WrongLogins.class),
        Clock.systemUTC(),
        new DashboardSettings(
            URI.create("http://127.0.0.1:1"),
            Duration.ofSeconds(1),
            WRONG + 1,
            Duration.ofSeconds(1),
            Duration.ofDays(1),
            Duration.ofDays(1),
            new DashboardSettings.BootstrapOperator(null, null)));
  }

  private void operator() {
    dashboard
        .sql()
        .update(
            "REPLACE INTO operators (name, password, role, created_at) VALUES (?, 'unused', 'viewer', ?)",
            NAME,
            Timestamp.from(Instant.now()));
  }
}
