package io.pushplanet.dashboard.app;

import io.pushplanet.common.access.ApiKey;
import io.pushplanet.common.access.Scope;
import io.pushplanet.common.change.Change;
import io.pushplanet.common.message.AppId;
import io.pushplanet.dashboard.audit.AuditAction;
import io.pushplanet.dashboard.audit.AuditLog;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/// Makes and revokes API keys. A revoked key stops working in every process within a second,
/// because its `changes` row is written in the same transaction. Thread-safe.
@Service
public class ApiKeys {
  /// The name of the short-lived keys that [#forOneRequest] makes. No operator can give it to a
  /// key, and these keys do not count as one of the two that an app may have.
  private static final String ONE_REQUEST = "dashboard test push";

  static final int MAX_LIVE = 2;
  private static final Duration LONGEST_REQUEST = Duration.ofMinutes(5);
  private static final int LONGEST_NAME = 200;

  private final AppMapper rows;
  private final Apps apps;
  private final Changes changes;
  private final AuditLog audit;
  private final SecureRandom random;
  private final Clock clock;

  ApiKeys(
      AppMapper rows,
      Apps apps,
      Changes changes,
      AuditLog audit,
      SecureRandom random,
      Clock clock) {
    this.rows = rows;
    this.apps = apps;
    this.changes = changes;
    this.audit = audit;
    this.random = random;
    this.clock = clock;
  }

  /// The result of a request for a key.
  sealed interface NewKey {
    /// @param key shown once, never stored
    record Created(ApiKey key) implements NewKey {}

    record Refused(String why) implements NewKey {}
  }

  /// The live ones, and then the newest of the others.
  List<StoredKey> of(AppId app) {
    return rows.keys(app, ONE_REQUEST);
  }

  int count(AppId app) {
    return rows.countKeys(app, ONE_REQUEST);
  }

  @Transactional
  NewKey create(String by, AppId app, String name, Set<Scope> scopes) {
    if (name.isBlank() || name.length() > LONGEST_NAME || name.equals(ONE_REQUEST)) {
      return new NewKey.Refused(
          "Give the key a name of 1 to "
              + LONGEST_NAME
              + " characters, such as the program that uses it.");
    }
    if (scopes.isEmpty()) {
      return new NewKey.Refused("Choose at least one scope.");
    }
    apps.lock(app);
    if (rows.liveKeys(app, ONE_REQUEST) >= MAX_LIVE) {
      return new NewKey.Refused(
          "This app has two live keys already. Revoke the one that is no longer used, then create another.");
    }
    ApiKey key = insert(app, name, scopes);
    audit.record(
        by,
        AuditAction.KEY_CREATED,
        app + "/" + key.id(),
        name + " (" + Scope.format(scopes) + ")");
    return new NewKey.Created(key);
  }

  /// @return whether there was a live key with this id
  @Transactional
  boolean revoke(String by, AppId app, String id) {
    if (!revoke(app, id)) {
      return false;
    }
    audit.record(by, AuditAction.KEY_REVOKED, app + "/" + id, "");
    return true;
  }

  /// Whether there is a key with this id, live or revoked.
  boolean exists(AppId app, String id) {
    return isId(id) && rows.hasKey(app, id);
  }

  /// A key that may send for this app until [#endRequest]. Keys that a dashboard left behind when
  /// it was killed are revoked.
  @Transactional
  public ApiKey forOneRequest(AppId app) {
    apps.lock(app);
    Instant stale = clock.instant().minus(LONGEST_REQUEST);
    rows.liveKeysNamed(app, ONE_REQUEST, stale).forEach(id -> revoke(app, id));
    return insert(app, ONE_REQUEST, Set.of(Scope.SEND));
  }

  @Transactional
  public void endRequest(AppId app, ApiKey key) {
    revoke(app, key.id());
  }

  private ApiKey insert(AppId app, String name, Set<Scope> scopes) {
    ApiKey key = ApiKey.generate(random);
    rows.insertKey(key.id(), app, name, key.hash(), Scope.format(scopes), clock.instant());
    changes.tell(Change.Kind.API_KEY, app, key.id());
    return key;
  }

  private boolean revoke(AppId app, String id) {
    if (!isId(id) || rows.revokeKey(app, id, clock.instant()) == 0) {
      return false;
    }
    changes.tell(Change.Kind.API_KEY, app, id);
    return true;
  }

  /// The column is ASCII, and MySQL refuses to compare it with other characters.
  private static boolean isId(String text) {
    return StandardCharsets.US_ASCII.newEncoder().canEncode(text);
  }
}
