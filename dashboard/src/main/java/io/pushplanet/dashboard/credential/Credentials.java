package io.pushplanet.dashboard.credential;

import io.pushplanet.common.access.CredentialVault;
import io.pushplanet.common.change.Change;
import io.pushplanet.common.message.AppId;
import io.pushplanet.dashboard.app.Apps;
import io.pushplanet.dashboard.app.Changes;
import io.pushplanet.dashboard.audit.AuditAction;
import io.pushplanet.dashboard.audit.AuditLog;
import java.time.Clock;
import java.util.List;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/// Activates credentials. The former one of the same app, provider and environment retires in the same transaction, and
/// every worker hears of it.
@Service
class Credentials {
  private final CredentialMapper rows;
  private final CredentialVault vault;
  private final Apps apps;
  private final Changes changes;
  private final AuditLog audit;
  private final Clock clock;

  Credentials(
      CredentialMapper rows,
      CredentialVault vault,
      Apps apps,
      Changes changes,
      AuditLog audit,
      Clock clock) {
    this.rows = rows;
    this.vault = vault;
    this.apps = apps;
    this.changes = changes;
    this.audit = audit;
    this.clock = clock;
  }

  List<StoredCredential> of(AppId app) {
    return rows.of(app);
  }

  @Transactional
  void activate(String by, AppId app, CheckedCredential credential) {
    apps.lock(app);
    String provider = credential.provider();
    for (String environment : credential.environments()) {
      for (long former : rows.active(app, provider, environment)) {
        retireAndTell(app, former);
      }
      rows.insert(
          app,
          provider,
          environment,
          credential.kind(),
          credential.detailJson(),
          vault.encrypt(app, provider, environment, credential.secret()),
          credential.expiresAt(),
          clock.instant(),
          by);
      changes.tell(Change.Kind.CREDENTIAL, app, Long.toString(rows.inserted()));
      audit.record(
          by,
          AuditAction.CREDENTIAL_ACTIVATED,
          app + "/" + provider + "/" + environment,
          credential.kind() + " " + credential.detailJson());
    }
  }

  /// @return whether there was an active credential with this id
  @Transactional
  boolean retire(String by, AppId app, long id) {
    apps.lock(app);
    if (!retireAndTell(app, id)) {
      return false;
    }
    audit.record(by, AuditAction.CREDENTIAL_RETIRED, app + "/" + id, "");
    return true;
  }

  private boolean retireAndTell(AppId app, long id) {
    if (rows.retire(app, id) == 0) {
      return false;
    }
    changes.tell(Change.Kind.CREDENTIAL, app, Long.toString(id));
    return true;
  }
}
