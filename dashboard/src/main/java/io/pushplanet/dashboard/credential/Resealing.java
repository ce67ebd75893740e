package io.pushplanet.dashboard.credential;

import io.pushplanet.common.access.CredentialUnreadable;
import io.pushplanet.common.access.CredentialVault;
import io.pushplanet.dashboard.audit.AuditAction;
import io.pushplanet.dashboard.audit.AuditLog;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/// Seals all credentials with the current master key, in the background, one run at a time. A
/// credential that changes meanwhile is skipped. A run that was interrupted is started again and
/// continues where it stopped. The audit log has an entry for the begin of each run, and one for
/// its end or its failure. Thread-safe.
@Component
class Resealing {
  private static final Logger LOG = LoggerFactory.getLogger(Resealing.class);
  private static final String SUBJECT = "credentials";

  private final CredentialMapper rows;
  private final CredentialVault vault;
  private final AuditLog audit;
  private final AtomicBoolean running = new AtomicBoolean();
  private final AtomicLong unreadable = new AtomicLong();
  private final AtomicReference<@Nullable String> failure = new AtomicReference<>();

  /// @param unreadable how many credentials no known master key opens, in the last run
  /// @param failure how far the last run got, if it failed
  public record Progress(
      long all,
      long done,
      long unreadable,
      @Nullable String failure,
      boolean running,
      String currentKey,
      List<SealedBy> keys) {
    public boolean complete() {
      return done == all;
    }
  }

  Resealing(CredentialMapper rows, CredentialVault vault, AuditLog audit) {
    this.rows = rows;
    this.vault = vault;
    this.audit = audit;
  }

  Progress progress() {
    String current = vault.currentKeyId();
    List<SealedBy> keys = new ArrayList<>(rows.sealedBy());
    long unnamed = rows.sealedBySomeKey();
    if (unnamed > 0) {
      keys.add(new SealedBy("", unnamed));
    }
    return new Progress(
        keys.stream().mapToLong(SealedBy::sealed).sum(),
        keys.stream().filter(key -> key.name().equals(current)).mapToLong(SealedBy::sealed).sum(),
        unreadable.get(),
        failure.get(),
        running.get(),
        current,
        keys);
  }

  /// @return false when a run is under way
  boolean start(String by) {
    if (!running.compareAndSet(false, true)) {
      return false;
    }
    try {
      String key = vault.currentKeyId();
      long all = rows.countNotSealedBy(key);
      // Recorded before the first credential is sealed, so that no run is without an entry.
      audit.record(
          by, AuditAction.CREDENTIALS_RESEALED, SUBJECT, "begun: " + all + " to seal with " + key);
      unreadable.set(0);
      failure.set(null);
      Thread.ofVirtual().name("resealing").start(() -> run(by, key, all));
      return true;
    } catch (RuntimeException e) {
      running.set(false);
      throw e;
    }
  }

  private void run(String by, String key, long all) {
    long resealed = 0;
    try {
      long after = 0;
      List<SealedCredential> some = rows.notSealedBy(after, key);
      while (!some.isEmpty()) {
        for (SealedCredential one : some) {
          resealed += reseal(one, key);
        }
        after = some.getLast().id();
        some = rows.notSealedBy(after, key);
      }
      audit.record(
          by,
          AuditAction.CREDENTIALS_RESEALED,
          SUBJECT,
          resealed + " sealed again with " + key + ", " + unreadable + " could not be opened");
    } catch (RuntimeException e) {
      LOG.error("event=resealing_failed resealed={} all={}", resealed, all, e);
      failed(by, "failed after " + resealed + " of " + all);
    } finally {
      running.set(false);
    }
  }

  private void failed(String by, String howFar) {
    failure.set(howFar);
    try {
      audit.record(by, AuditAction.CREDENTIALS_RESEALED, SUBJECT, howFar);
    } catch (RuntimeException e) {
      // The audit log has the begin of this run, but not its end.
      LOG.error("event=resealing_failure_not_audited howFar=\"{}\"", howFar, e);
    }
  }

  private int reseal(SealedCredential one, String key) {
    try {
      byte[] secret =
          vault.resealed(one.appId(), one.provider(), one.environment(), one.id(), one.secret());
      return rows.reseal(one.id(), one.secret(), secret, key);
    } catch (CredentialUnreadable e) {
      unreadable.incrementAndGet();
      LOG.warn(
          "event=credential_not_resealed credentialId={} reason=\"{}\"", one.id(), e.getMessage());
      return 0;
    }
  }
}
