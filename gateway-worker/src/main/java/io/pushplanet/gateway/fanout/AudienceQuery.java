package io.pushplanet.gateway.fanout;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.gateway.registration.DeviceRow;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;

/// The SQL of one page of an audience. Candidates come in the order of their device ids from one
/// range of a key, at most a page of them, however few are wanted in the end. So a step costs the
/// same at the start and at the end of a million devices, also for `and` and `not`. Each candidate
/// is then looked up by its own key, and `wanted` tells whether the whole audience names it.
///
/// `user_of` is the device's user when the device is wanted only because of that user: with nobody
/// logged in it would not be.
///
/// `and` takes its candidates from its narrowest part, `or` merges those of all its parts, `not`
/// has to look at all devices.
record AudienceQuery(String sql, List<Object> arguments) {
  AudienceQuery {
    arguments = List.copyOf(arguments);
  }

  static AudienceQuery page(AppId app, Audience audience, String after, int pageSize) {
    var candidates = new Writer(app, after, pageSize);
    candidates.candidates(audience);
    var wanted = new Writer(app, after, pageSize);
    if (isExact(audience)) {
      wanted.add("TRUE");
    } else {
      wanted.wanted(audience);
    }
    var userOf = new Writer(app, after, pageSize);
    if (namesUsers(audience)) {
      userOf.add("IF(");
      userOf.wanted(withNobody(audience));
      userOf.add(", NULL, d.user_id)");
    } else {
      userOf.add("NULL");
    }
    var arguments = new ArrayList<>(wanted.arguments);
    arguments.addAll(userOf.arguments);
    arguments.addAll(candidates.arguments);
    arguments.add(app.value());
    arguments.add(app.value());
    return new AudienceQuery(
        """
        SELECT p.device_id, %s, %s AS wanted, %s AS user_of
        FROM (%s) p
        LEFT JOIN devices d ON d.app_id = ? AND d.device_id = p.device_id
        LEFT JOIN channel_tokens t ON t.app_id = ? AND t.device_id = p.device_id AND t.dead_at IS NULL
        ORDER BY p.device_id
        """
            .formatted(DeviceRow.COLUMNS, wanted.sql, userOf.sql, candidates.sql),
        arguments);
  }

  /// Whether the candidates are exactly the audience.
  private static boolean isExact(Audience audience) {
    return switch (audience) {
      case Audience.Devices _,
          Audience.Users _,
          Audience.Topic _,
          Audience.Tag _,
          Audience.All _,
          Audience.SpreadByVendor _ ->
          true;
      case Audience.Or(List<Audience> parts) -> parts.stream().allMatch(AudienceQuery::isExact);
      case Audience.And _, Audience.Not _ -> false;
    };
  }

  private static boolean namesUsers(Audience audience) {
    return switch (audience) {
      case Audience.Users _ -> true;
      case Audience.And(List<Audience> parts) -> parts.stream().anyMatch(AudienceQuery::namesUsers);
      case Audience.Or(List<Audience> parts) -> parts.stream().anyMatch(AudienceQuery::namesUsers);
      case Audience.Not(Audience part) -> namesUsers(part);
      case Audience.Devices _,
          Audience.Topic _,
          Audience.Tag _,
          Audience.All _,
          Audience.SpreadByVendor _ ->
          false;
    };
  }

  /// The audience as it would be with nobody logged in anywhere.
  private static Audience withNobody(Audience audience) {
    return switch (audience) {
      case Audience.Users _ -> new Audience.Not(new Audience.All());
      case Audience.And(List<Audience> parts) ->
          new Audience.And(parts.stream().map(AudienceQuery::withNobody).toList());
      case Audience.Or(List<Audience> parts) ->
          new Audience.Or(parts.stream().map(AudienceQuery::withNobody).toList());
      case Audience.Not(Audience part) -> new Audience.Not(withNobody(part));
      case Audience.Devices _,
          Audience.Topic _,
          Audience.Tag _,
          Audience.All _,
          Audience.SpreadByVendor _ ->
          audience;
    };
  }

  /// Writes text and arguments side by side.
  private static final class Writer {
    private final StringBuilder sql = new StringBuilder();
    private final List<Object> arguments = new ArrayList<>();
    private final AppId app;
    private final String after;
    private final int pageSize;

    Writer(AppId app, String after, int pageSize) {
      this.app = app;
      this.after = after;
      this.pageSize = pageSize;
    }

    void candidates(Audience audience) {
      switch (audience) {
        case Audience.Devices(List<DeviceId> devices) -> {
          add("SELECT device_id FROM devices WHERE app_id = ? AND device_id", app.value());
          in(devices.stream().map(DeviceId::value).toList());
          afterwards();
        }
        case Audience.Users(List<String> users) -> {
          add("SELECT device_id FROM devices WHERE app_id = ? AND user_id", app.value());
          in(users);
          afterwards();
        }
        case Audience.Topic(String topic) -> {
          add(
              "SELECT device_id FROM device_topics WHERE app_id = ? AND topic = ?",
              app.value(),
              topic);
          afterwards();
        }
        case Audience.Tag(String tag) -> {
          add("SELECT device_id FROM device_tags WHERE app_id = ? AND tag = ?", app.value(), tag);
          afterwards();
        }
        case Audience.All(), Audience.Not _ -> {
          add("SELECT device_id FROM devices WHERE app_id = ?", app.value());
          afterwards();
        }
        case Audience.And(List<Audience> parts) ->
            candidates(Collections.min(parts, Comparator.comparingInt(Writer::breadth)));
        case Audience.Or(List<Audience> parts) -> {
          if (breadth(audience) == EVERYONE) {
            candidates(new Audience.All());
            return;
          }
          add("SELECT device_id FROM (");
          for (int i = 0; i < parts.size(); i++) {
            add(i == 0 ? "(" : " UNION (");
            candidates(parts.get(i));
            add(")");
          }
          // The first rows of the union are among the first rows of its parts.
          add(") u ORDER BY device_id LIMIT ?", pageSize);
        }
        case Audience.SpreadByVendor _ -> throw noDevices();
      }
    }

    private static final int EVERYONE = 3;

    private static int breadth(Audience audience) {
      return switch (audience) {
        case Audience.Devices _, Audience.SpreadByVendor _ -> 0;
        case Audience.Users _ -> 1;
        case Audience.Topic _, Audience.Tag _ -> 2;
        case Audience.All(), Audience.Not _ -> EVERYONE;
        case Audience.And(List<Audience> parts) ->
            parts.stream().mapToInt(Writer::breadth).min().orElse(EVERYONE);
        case Audience.Or(List<Audience> parts) ->
            parts.stream().mapToInt(Writer::breadth).max().orElse(EVERYONE);
      };
    }

    private static IllegalArgumentException noDevices() {
      return new IllegalArgumentException(
          "what a vendor spreads is a recipient itself: nobody fans it out");
    }

    private void afterwards() {
      add(" AND device_id > ? ORDER BY device_id LIMIT ?", after, pageSize);
    }

    /// Never NULL, because `NOT` leaves that NULL.
    void wanted(Audience audience) {
      switch (audience) {
        case Audience.Devices(List<DeviceId> devices) -> {
          add("p.device_id");
          in(devices.stream().map(DeviceId::value).toList());
        }
        case Audience.Users(List<String> users) -> {
          add("COALESCE(d.user_id");
          in(users);
          add(", FALSE)");
        }
        case Audience.Topic(String topic) ->
            add(
                "EXISTS (SELECT 1 FROM device_topics x WHERE x.app_id = ? AND x.topic = ? AND x.device_id = p.device_id)",
                app.value(),
                topic);
        case Audience.Tag(String tag) ->
            add(
                "EXISTS (SELECT 1 FROM device_tags x WHERE x.app_id = ? AND x.tag = ? AND x.device_id = p.device_id)",
                app.value(),
                tag);
        case Audience.SpreadByVendor _ -> throw noDevices();
        case Audience.All() -> add("TRUE");
        case Audience.And(List<Audience> parts) -> joined(parts, " AND ");
        case Audience.Or(List<Audience> parts) -> joined(parts, " OR ");
        case Audience.Not(Audience part) -> {
          add("NOT (");
          wanted(part);
          add(")");
        }
      }
    }

    private void joined(List<Audience> parts, String word) {
      add("(");
      for (int i = 0; i < parts.size(); i++) {
        add(i == 0 ? "" : word);
        wanted(parts.get(i));
      }
      add(")");
    }

    private void in(Collection<String> values) {
      add(" IN (" + "?, ".repeat(values.size() - 1) + "?)", values.toArray());
    }

    private void add(String text, Object... values) {
      sql.append(text);
      Collections.addAll(arguments, values);
    }
  }
}
