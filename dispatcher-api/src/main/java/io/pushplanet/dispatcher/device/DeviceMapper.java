package io.pushplanet.dispatcher.device;

import io.pushplanet.dispatcher.registration.Registration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import org.apache.ibatis.annotations.Delete;
import org.apache.ibatis.annotations.Insert;
import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Param;
import org.apache.ibatis.annotations.Select;
import org.apache.ibatis.annotations.Update;
import org.jspecify.annotations.Nullable;

@Mapper
interface DeviceMapper {
  /// @param credentialEnds when the last password expires that the device was given: the epoch when
  ///     it was given none, null when an earlier version may have given it one
  record DeviceRow(
      String deviceId,
      String platform,
      boolean mqtt,
      @Nullable String userId,
      @Nullable String locale,
      @Nullable String timezone,
      @Nullable String appVersion,
      Instant createdAt,
      Instant updatedAt,
      Instant seenAt,
      @Nullable Instant credentialEnds) {}

  record TokenRow(
      String channel,
      String token,
      String kind,
      String environment,
      Instant registeredAt,
      @Nullable Instant deadAt) {}

  /// A message that waits for the device.
  record Waiting(String slot, String messageId) {}

  /// @param seq of the list of devices that names this one
  record WaitingBroadcast(long seq, String messageId) {}

  String DEVICE =
      """
      SELECT device_id, platform, mqtt, user_id, locale, timezone, app_version, created_at, updated_at, seen_at,
        credential_ends
      FROM devices WHERE app_id = #{app} AND device_id = #{device}
      """;

  @Select(DEVICE)
  @Nullable DeviceRow find(@Param("app") String app, @Param("device") String device);

  @Select(DEVICE + " FOR UPDATE")
  @Nullable DeviceRow lock(@Param("app") String app, @Param("device") String device);

  @Insert(
      """
      INSERT INTO devices
        (app_id, device_id, platform, mqtt, user_id, locale, timezone, app_version, created_at, updated_at, seen_at,
          credential_ends)
      VALUES (#{app}, #{device}, #{platform}, #{it.channels.mqtt}, #{it.user}, #{it.locale}, #{it.timezone},
        #{it.appVersion}, #{now}, #{now}, #{now}, IF(#{it.channels.mqtt}, #{ends}, '1970-01-01 00:00:00'))
      """)
  void insert(
      @Param("app") String app,
      @Param("device") String device,
      @Param("platform") String platform,
      @Param("it") Registration registration,
      @Param("now") Instant now,
      @Param("ends") Instant ends);

  /// @param ends when the password expires that the device is given if its MQTT channel is on, to
  ///     the second; the row keeps the latest
  @Update(
      """
      UPDATE devices SET platform = #{platform}, mqtt = #{it.channels.mqtt}, user_id = #{it.user},
        locale = #{it.locale}, timezone = #{it.timezone}, app_version = #{it.appVersion},
        updated_at = #{now}, seen_at = GREATEST(seen_at, #{now}),
        credential_ends = IF(#{it.channels.mqtt}, GREATEST(COALESCE(credential_ends, #{ends}), #{ends}), credential_ends)
      WHERE app_id = #{app} AND device_id = #{device}
      """)
  void update(
      @Param("app") String app,
      @Param("device") String device,
      @Param("platform") String platform,
      @Param("it") Registration registration,
      @Param("now") Instant now,
      @Param("ends") Instant ends);

  @Update(
      "UPDATE devices SET credential_ends = #{ends} WHERE app_id = #{app} AND device_id = #{device}")
  void credentialEnds(
      @Param("app") String app, @Param("device") String device, @Param("ends") Instant ends);

  @Delete("DELETE FROM devices WHERE app_id = #{app} AND device_id = #{device}")
  int delete(@Param("app") String app, @Param("device") String device);

  String TOKENS =
      """
      SELECT channel, token, kind, environment, registered_at, dead_at FROM channel_tokens
      WHERE app_id = #{app} AND device_id = #{device}
      """;

  @Select(TOKENS)
  List<TokenRow> tokens(@Param("app") String app, @Param("device") String device);

  @Select(TOKENS + " FOR UPDATE")
  List<TokenRow> lockTokens(@Param("app") String app, @Param("device") String device);

  /// Waits for devices that are registering the token at this moment.
  ///
  /// @param asBefore the token in the spelling in which an older version may have written it
  @Select(
      """
      SELECT device_id FROM channel_tokens
      WHERE app_id = #{app} AND channel = #{channel} AND token IN (#{token}, #{asBefore}) AND device_id <> #{device}
      FOR UPDATE
      """)
  List<String> lockOthersWith(
      @Param("app") String app,
      @Param("channel") String channel,
      @Param("token") String token,
      @Param("asBefore") String asBefore,
      @Param("device") String device);

  @Insert(
      """
      REPLACE INTO channel_tokens (app_id, device_id, channel, token, kind, environment, registered_at)
      VALUES (#{app}, #{device}, #{channel}, #{it.token}, #{it.kind}, #{it.environment}, #{now})
      """)
  void putToken(
      @Param("app") String app,
      @Param("device") String device,
      @Param("channel") String channel,
      @Param("it") Registration.Token token,
      @Param("now") Instant now);

  @Delete(
      """
      DELETE FROM channel_tokens WHERE app_id = #{app} AND device_id = #{device} AND channel = #{channel}
      """)
  void deleteToken(
      @Param("app") String app, @Param("device") String device, @Param("channel") String channel);

  @Delete("DELETE FROM channel_tokens WHERE app_id = #{app} AND device_id = #{device}")
  void deleteTokens(@Param("app") String app, @Param("device") String device);

  @Select(
      "SELECT tag FROM device_tags WHERE app_id = #{app} AND device_id = #{device} ORDER BY tag")
  List<String> tags(@Param("app") String app, @Param("device") String device);

  @Select(
      """
      SELECT topic FROM device_topics WHERE app_id = #{app} AND device_id = #{device} ORDER BY topic
      """)
  List<String> topics(@Param("app") String app, @Param("device") String device);

  @Insert(
      """
      <script>
      INSERT IGNORE INTO device_tags (app_id, tag, device_id) VALUES
      <foreach collection="tags" item="tag" separator=",">(#{app}, #{tag}, #{device})</foreach>
      </script>
      """)
  void addTags(
      @Param("app") String app,
      @Param("device") String device,
      @Param("tags") Collection<String> tags);

  @Insert(
      """
      <script>
      INSERT IGNORE INTO device_topics (app_id, topic, device_id) VALUES
      <foreach collection="topics" item="topic" separator=",">(#{app}, #{topic}, #{device})</foreach>
      </script>
      """)
  void addTopics(
      @Param("app") String app,
      @Param("device") String device,
      @Param("topics") Collection<String> topics);

  @Delete(
      "DELETE FROM device_tags WHERE app_id = #{app} AND device_id = #{device} AND tag = #{tag}")
  void deleteTag(
      @Param("app") String app, @Param("device") String device, @Param("tag") String tag);

  @Delete(
      """
      DELETE FROM device_topics
      WHERE app_id = #{app} AND device_id = #{device} AND topic = #{topic}
      """)
  void deleteTopic(
      @Param("app") String app, @Param("device") String device, @Param("topic") String topic);

  @Delete("DELETE FROM device_tags WHERE app_id = #{app} AND device_id = #{device}")
  void deleteTags(@Param("app") String app, @Param("device") String device);

  @Delete("DELETE FROM device_topics WHERE app_id = #{app} AND device_id = #{device}")
  void deleteTopics(@Param("app") String app, @Param("device") String device);

  @Select(
      """
      SELECT slot, message_id FROM inbox WHERE app_id = #{app} AND device_id = #{device} FOR UPDATE
      """)
  List<Waiting> waiting(@Param("app") String app, @Param("device") String device);

  /// Messages that wait for another user than this one. Reads without locks: a cancellation skips
  /// locked rows, and most of these rows stay.
  @Select(
      """
      SELECT slot, message_id FROM inbox
      WHERE app_id = #{app} AND device_id = #{device} AND user_id IS NOT NULL AND NOT user_id <=> #{user}
      """)
  List<Waiting> waitingForOthers(
      @Param("app") String app,
      @Param("device") String device,
      @Param("user") @Nullable String user);

  /// The index is forced, because with another index the statement would wait for rows of other
  /// devices. The rows are named by their slots, so that no other row is locked.
  @Delete(
      """
      <script>
      DELETE inbox FROM inbox FORCE INDEX (PRIMARY) WHERE
      <foreach collection="rows" item="row" separator=" OR ">
        (app_id = #{app} AND device_id = #{device} AND slot = #{row.slot} AND message_id = #{row.messageId})
      </foreach>
      </script>
      """)
  void deleteFromInbox(
      @Param("app") String app,
      @Param("device") String device,
      @Param("rows") Collection<Waiting> rows);

  /// Lists that the device has not passed yet and that may name it, by their first and last device.
  /// The lists themselves are long and stored apart from their rows: a condition on them, too,
  /// would read each list of the app.
  @Select(
      """
      SELECT l.seq FROM broadcast_devices l
      LEFT JOIN broadcast_positions p ON p.app_id = #{app} AND p.device_id = #{device}
      WHERE l.app_id = #{app} AND l.seq > COALESCE(p.seq, 0)
        AND l.first_device <= #{device} AND l.last_device >= #{device}
      """)
  List<Long> listsAround(@Param("app") String app, @Param("device") String device);

  /// The broadcasts of those lists that name the device.
  @Select(
      """
      <script>
      SELECT seq, message_id FROM broadcast_devices WHERE app_id = #{app} AND seq IN
      <foreach collection="lists" item="list" open="(" separator="," close=")">#{list}</foreach>
        AND LOCATE(CONCAT(' ', #{device}, ' '), CONCAT(' ', devices, ' ')) > 0
      </script>
      """)
  List<WaitingBroadcast> broadcastsOf(
      @Param("app") String app,
      @Param("device") String device,
      @Param("lists") Collection<Long> lists);

  /// Moves the position of the device past this list, when the ends of its broadcasts have been
  /// told.
  @Insert(
      """
      INSERT INTO broadcast_positions (app_id, device_id, seq, moved_at) VALUES (#{app}, #{device}, #{seq}, #{now})
      ON DUPLICATE KEY UPDATE seq = GREATEST(seq, VALUES(seq)), moved_at = VALUES(moved_at)
      """)
  void passBroadcasts(
      @Param("app") String app,
      @Param("device") String device,
      @Param("seq") long seq,
      @Param("now") Instant now);
}
