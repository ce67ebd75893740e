package io.pushplanet.dashboard.app;

import io.pushplanet.common.change.Change;
import io.pushplanet.common.message.AppId;
import io.pushplanet.dashboard.audit.AuditAction;
import io.pushplanet.dashboard.audit.AuditLog;
import io.pushplanet.dashboard.page.Missing;
import io.pushplanet.dashboard.page.Slice;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/// The apps of this installation. Thread-safe.
@Service
public class Apps {
  private static final int PAGE = 50;
  private static final int LONGEST_NAME = 200;
  private static final String NOT_A_NAME = "A name has 1 to " + LONGEST_NAME + " characters.";

  private final AppMapper rows;
  private final Changes changes;
  private final AuditLog audit;
  private final Clock clock;

  Apps(AppMapper rows, Changes changes, AuditLog audit, Clock clock) {
    this.rows = rows;
    this.changes = changes;
    this.audit = audit;
    this.clock = clock;
  }

  /// In the order of their ids.
  ///
  /// @param find a part of an id or a name, in small letters or capitals; empty for all apps
  /// @param after an id, or empty to begin with the first app
  Slice<App> page(String find, String after) {
    return Slice.of(rows.appsAfter(find, after, PAGE + 1), PAGE, app -> app.id().value());
  }

  /// What a page offers for the choice of an app.
  ///
  /// @param asked the id in its request, perhaps typed by hand and of no app; empty for none
  public AppChoice choice(String asked) {
    List<App> some = rows.appsAfter("", "", AppChoice.MAX_LISTED + 1);
    boolean tooMany = some.size() > AppChoice.MAX_LISTED;
    String id = asked.strip();
    return new AppChoice(id, find(id), tooMany ? List.of() : some, tooMany);
  }

  public Optional<App> find(String id) {
    return AppId.isValid(id) ? rows.app(new AppId(id)) : Optional.empty();
  }

  /// @throws Missing when there is no such app
  public App get(String id) {
    return find(id).orElseThrow(() -> new Missing("no app " + id));
  }

  /// Locks the row of the app, so that changes of one app wait for each other. Needs a transaction.
  ///
  /// @throws Missing when there is no such app
  @Transactional
  public App lock(AppId id) {
    return rows.appForUpdate(id).orElseThrow(() -> new Missing("no app " + id));
  }

  /// @return the fault, in words for the operator, or empty when the app was created
  @Transactional
  Optional<String> create(String by, String id, String name) {
    if (!AppId.isValid(id)) {
      return Optional.of(
          "An app id has 1 to 64 lower-case letters, digits and hyphens and does not start with a hyphen.");
    }
    if (!isName(name)) {
      return Optional.of(NOT_A_NAME);
    }
    AppId app = new AppId(id);
    try {
      rows.insertApp(app, name, clock.instant());
    } catch (DuplicateKeyException e) {
      return Optional.of("There is an app with the id " + id + " already.");
    }
    changes.tell(Change.Kind.APP, app, id);
    audit.record(by, AuditAction.APP_CREATED, id, name);
    return Optional.empty();
  }

  /// Changes the name. The id stays, because every address and every device contains it.
  ///
  /// @return the fault, in words for the operator, or empty when the app has this name
  @Transactional
  Optional<String> rename(String by, AppId id, String name) {
    if (!isName(name)) {
      return Optional.of(NOT_A_NAME);
    }
    String former = lock(id).name();
    if (!former.equals(name)) {
      rows.renameApp(id, name);
      changes.tell(Change.Kind.APP, id, id.value());
      audit.record(by, AuditAction.APP_RENAMED, id.value(), former + " → " + name);
    }
    return Optional.empty();
  }

  boolean isUsed(AppId id) {
    return rows.used(id);
  }

  /// Deletes an app that was created by mistake. An app with anything registered, sent or recorded
  /// is kept.
  ///
  /// @return whether the app is deleted
  @Transactional
  boolean delete(String by, AppId id) {
    String name = lock(id).name();
    if (isUsed(id)) {
      return false;
    }
    rows.deleteApp(id);
    changes.tell(Change.Kind.APP, id, id.value());
    audit.record(by, AuditAction.APP_DELETED, id.value(), name);
    return true;
  }

  private static boolean isName(String name) {
    return !name.isBlank() && name.length() <= LONGEST_NAME;
  }
}
