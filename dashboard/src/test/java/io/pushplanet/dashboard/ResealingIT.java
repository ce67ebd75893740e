package io.pushplanet.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.access.CredentialVault;
import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.Eventually;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ResealingIT {
  private static final String KEY =
      new CredentialVault(MasterKey.parse(RunningDashboard.MASTER_KEY), new SecureRandom())
          .currentKeyId();

  private final RunningDashboard dashboard = RunningDashboard.shared();

  @Test
  void a_run_that_fails_midway_says_in_the_audit_log_how_far_it_came() throws Exception {
    new Rows(dashboard.sql()).app("halfway", "Halfway");
    for (int i = 0; i < 3; i++) {
      formerlySealed();
    }
    long last =
        dashboard
            .sql()
            .queryForObject("SELECT MAX(id) FROM credentials WHERE app_id = 'halfway'", Long.class);
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
    long before = toSeal();
    long entries = audited().size();

    try (var _ = Refusing.of(dashboard.sql(), "UPDATE ON credentials", "NEW.id = " + last)) {
      admin.post("/encryption", "/encryption/reseal");
      Eventually.within(
          Duration.ofSeconds(60),
          () -> assertThat(admin.get("/encryption").body()).contains("The last run failed after"));
    }

    // Other tests leave credentials behind, some of which no key can open.
    long left = toSeal();
    assertThat(before - left).isGreaterThanOrEqualTo(2);
    assertThat(audited().stream().skip(entries))
        .containsExactly(
            "begun: " + before + " to seal with " + KEY,
            "failed after " + (before - left) + " of " + before);

    admin.post("/encryption", "/encryption/reseal");
    Eventually.within(
        Duration.ofSeconds(60),
        () ->
            assertThat(audited().stream().skip(entries + 2))
                .containsExactly(
                    "begun: " + left + " to seal with " + KEY,
                    "1 sealed again with " + KEY + ", " + (left - 1) + " could not be opened"));
    assertThat(toSeal()).isEqualTo(left - 1);
    assertThat(admin.get("/encryption").body()).doesNotContain("The last run failed");
  }

  private void formerlySealed() {
    var former =
        new CredentialVault(
            MasterKey.parse(RunningDashboard.FORMER_MASTER_KEY), new SecureRandom());
    dashboard
        .sql()
        .update(
            "INSERT INTO credentials (app_id, provider, environment, kind, state, detail, secret, created_at, created_by) VALUES ('halfway', 'apns', 'production', 'p8', 'retired', '{}', ?, NOW(3), 'test')",
            former.encrypt(
                new AppId("halfway"),
                "apns",
                "production",
                "secret".getBytes(StandardCharsets.UTF_8)));
  }

  private long toSeal() {
    return dashboard
        .sql()
        .queryForObject(
            "SELECT COUNT(*) FROM credentials WHERE key_id IS NULL OR key_id <> ?",
            Long.class,
            KEY);
  }

  private List<String> audited() {
    return dashboard
        .sql()
        .queryForList(
            "SELECT detail FROM audit WHERE action = 'credentials_resealed' ORDER BY id",
            String.class);
  }
}
