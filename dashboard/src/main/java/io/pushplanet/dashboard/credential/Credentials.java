package io.pushplanet.dashboard.credential;

import io.pushplanet.common.access.CredentialVault;
import io.pushplanet.common.change.Change;
import io.pushplanet.common.message.AppId;
import io.pushplanet.dashboard.DashboardSettings;
import io.pushplanet.dashboard.app.Apps;
import io.pushplanet.dashboard.app.Changes;
import io.pushplanet.dashboard.audit.AuditAction;
import io.pushplanet.dashboard.audit.AuditLog;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/// The life of a credential: it is uploaded as a candidate, a worker tries it at the provider, and
/// it is activated. The former credential of the same app, provider and environment overlaps, so
/// that an operator can roll back to it, and then retires. Each change is written with its audit
/// entry and its `changes` row in one transaction, and reaches every worker.
@Service
public class Credentials {
  private static final Duration SOON = Duration.ofDays(30);
  private static final Duration KEPT_LATELY = Duration.ofDays(1);
  private static final Duration SENT_TWICE_WITHIN = Duration.ofMinutes(1);

  private final CredentialMapper rows;
  private final CredentialVault vault;
  private final Apps apps;
  private final Changes changes;
  private final AuditLog audit;
  private final Duration overlap;
  private final Clock clock;

  Credentials(
      CredentialMapper rows,
      CredentialVault vault,
      Apps apps,
      Changes changes,
      AuditLog audit,
      DashboardSettings settings,
      Clock clock) {
    this.rows = rows;
    this.vault = vault;
    this.apps = apps;
    this.changes = changes;
    this.audit = audit;
    this.overlap = settings.credentialOverlap();
    this.clock = clock;
  }

  /// Those in use, the candidates, and then the former ones; the newest first, and not all.
  List<StoredCredential> of(AppId app) {
    return rows.of(app);
  }

  int count(AppId app) {
    return rows.count(app);
  }

  Optional<StoredCredential> one(AppId app, long id) {
    return rows.one(app, id);
  }

  List<Alert> alerts(AppId app) {
    return rows.alerts(app);
  }

  /// The credentials of all apps that need attention: first the refused ones, then those whose
  /// tokens are kept, then those that expire soon, then those that have expired.
  public List<Trouble> troubles() {
    Instant now = clock.instant();
    List<Trouble> troubles = new ArrayList<>(rows.paused());
    troubles.addAll(rows.tokensKeptSince(now.minus(KEPT_LATELY)));
    troubles.addAll(rows.endingBetween(now, now.plus(SOON)));
    troubles.addAll(rows.endedBefore(now));
    return troubles;
  }

  /// Stores a credential. A worker tries it at once if that is possible.
  ///
  /// @return the ids of the candidates, one for each environment
  @Transactional
  List<Long> upload(String by, AppId app, CheckedCredential credential) {
    apps.lock(app);
    Instant now = clock.instant();
    boolean tried = !credential.provider().equals("webpush");
    List<Long> candidates = new ArrayList<>();
    for (String environment : credential.environments()) {
      rows.insert(
          app,
          credential.provider(),
          environment,
          credential.kind(),
          credential.detailJson(),
          credential.expiresAt(),
          now,
          by);
      long id = rows.inserted();
      rows.seal(
          id,
          vault.encrypt(app, credential.provider(), environment, id, credential.secret()),
          vault.currentKeyId(),
          tried ? now : null);
      audit.record(
          by,
          AuditAction.CREDENTIAL_UPLOADED,
          app + "/" + credential.provider() + "/" + environment,
          id + " " + credential.kind() + " " + credential.detailJson());
      candidates.add(id);
    }
    return candidates;
  }

  /// Asks a worker to try a credential at its provider.
  ///
  /// @return whether there is such a credential
  @Transactional
  boolean tryNow(String by, AppId app, long id) {
    if (rows.tryNow(app, id, clock.instant()) == 0) {
      return false;
    }
    audit.record(by, AuditAction.CREDENTIAL_TRIED, app + "/" + id, "");
    return true;
  }

  /// Activates a candidate that its provider accepts, or that cannot be tried.
  ///
  /// @return whether it is active now
  @Transactional
  boolean activate(String by, AppId app, long id) {
    apps.lock(app);
    Optional<StoredCredential> candidate = candidate(app, id).filter(Credentials::isProven);
    candidate.ifPresent(one -> putInUse(by, app, one, AuditAction.CREDENTIAL_ACTIVATED));
    return candidate.isPresent();
  }

  /// Activates a candidate also when it is unknown whether its provider accepts it, but not when
  /// its provider has refused it.
  ///
  /// @return whether it is active now
  @Transactional
  boolean activateUntried(String by, AppId app, long id) {
    apps.lock(app);
    Optional<StoredCredential> candidate = candidate(app, id).filter(one -> !one.refused());
    candidate.ifPresent(one ->
        putInUse(
            by,
            app,
            one,
            isProven(one)
                ? AuditAction.CREDENTIAL_ACTIVATED
                : AuditAction.CREDENTIAL_ACTIVATED_ANYWAY));
    return candidate.isPresent();
  }

  private Optional<StoredCredential> candidate(AppId app, long id) {
    return rows.one(app, id).filter(StoredCredential::candidate);
  }

  private static boolean isProven(StoredCredential candidate) {
    return candidate.accepted() || !candidate.canBeTried();
  }

  private void putInUse(String by, AppId app, StoredCredential candidate, AuditAction action) {
    putInUse(app, candidate, overlapEnd());
    audit.record(
        by,
        action,
        app + "/" + candidate.provider() + "/" + candidate.environment(),
        candidate.id() + " " + candidate.kind() + " " + candidate.detail());
  }

  private @Nullable Instant overlapEnd() {
    return overlap.isZero() ? null : clock.instant().plus(overlap);
  }

  /// Activates the former credential again. The one that replaced it retires.
  ///
  /// @param id of the overlapping credential
  /// @return whether it still overlapped
  @Transactional
  boolean rollBack(String by, AppId app, long id) {
    apps.lock(app);
    StoredCredential former = rows.one(app, id).orElse(null);
    if (former == null || !former.overlapping()) {
      return false;
    }
    putInUse(app, former, null);
    audit.record(
        by,
        AuditAction.CREDENTIAL_ROLLED_BACK,
        app + "/" + former.provider() + "/" + former.environment(),
        id + " " + former.kind() + " " + former.detail());
    return true;
  }

  /// A form that is sent twice, or corrected at once, uploads two credentials. The second one
  /// retires the first, with which hardly anything was sent, and not the one that overlaps already.
  private void putInUse(AppId app, StoredCredential next, @Nullable Instant formerUntil) {
    List<StoredCredential> inUse = rows.inUse(app, next.provider(), next.environment());
    boolean sentTwice =
        inUse.stream().anyMatch(StoredCredential::overlapping)
            && inUse.stream().anyMatch(former -> former.active() && isUploadedWith(former, next));
    for (StoredCredential former : inUse) {
      if (former.id() != next.id() && !(sentTwice && former.overlapping())) {
        rows.replace(former.id(), sentTwice ? null : formerUntil);
        changes.tell(Change.Kind.CREDENTIAL, app, Long.toString(former.id()));
      }
    }
    if (rows.activate(app, next.id(), next.state(), clock.instant()) != 1) {
      // A worker has retired it since it was read: the credential in use stays.
      throw new OptimisticLockingFailureException("the credential's state has changed meanwhile");
    }
    changes.tell(Change.Kind.CREDENTIAL, app, Long.toString(next.id()));
  }

  private boolean isUploadedWith(StoredCredential former, StoredCredential next) {
    return former.createdBy().equals(next.createdBy())
        && former.createdAt().isAfter(clock.instant().minus(SENT_TWICE_WITHIN));
  }

  /// @return whether there was such a credential, not retired before
  @Transactional
  boolean retire(String by, AppId app, long id) {
    apps.lock(app);
    if (rows.retire(app, id) == 0) {
      return false;
    }
    changes.tell(Change.Kind.CREDENTIAL, app, Long.toString(id));
    audit.record(by, AuditAction.CREDENTIAL_RETIRED, app + "/" + id, "");
    return true;
  }
}
