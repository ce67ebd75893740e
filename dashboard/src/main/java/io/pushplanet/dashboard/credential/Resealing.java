package io.pushplanet.dashboard.credential;

import io.pushplanet.common.access.CredentialUnreadable;
import io.pushplanet.common.access.CredentialVault;
import io.pushplanet.dashboard.audit.AuditAction;
import io.pushplanet.dashboard.audit.AuditLog;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/// Brings all credentials over to the current master key, in the background, one run at a time. What has changed meanwhile is
/// left alone; a run that was interrupted is started again and goes on where it was. Thread-safe.
@Component
class Resealing {
  private static final Logger LOG = LoggerFactory.getLogger(Resealing.class);

  private final CredentialMapper rows;
  private final CredentialVault vault;
  private final AuditLog audit;
  private final AtomicBoolean running = new AtomicBoolean();
  private final AtomicLong unreadable = new AtomicLong();

  /// @param unreadable those that no known master key opens, in the last run
  public record Progress(
      long all,
      long done,
      long unreadable,
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
        running.get(),
        current,
        keys);
  }

  /// @return false when a run is under way
  boolean start(String by) {
    if (!running.compareAndSet(false, true)) {
      return false;
    }
    Thread.ofVirtual().name("resealing").start(() -> run(by));
    return true;
  }

  private void run(String by) {
    long resealed = 0;
    unreadable.set(0);
    try {
      String key = vault.currentKeyId();
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
          "credentials",
          resealed + " sealed again with " + key + ", " + unreadable + " could not be opened");
    } catch (RuntimeException e) {
      LOG.error("event=resealing_failed resealed={}", resealed, e);
    } finally {
      running.set(false);
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
