package io.pushplanet.dispatcher.message;

import io.pushplanet.common.delivery.MessageState;
import java.time.Instant;
import java.time.LocalDate;
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
interface MessageMapper {
  record MessageRow(
      String id,
      String audience,
      String content,
      String delivery,
      Instant acceptedAt,
      Instant expiresAt,
      @Nullable Instant expandedAt,
      @Nullable Instant cancelledAt,
      int recipients,
      int delivered,
      int failed,
      int expired,
      int cancelled,
      int duplicates,
      int opened) {
    int ended() {
      return delivered + failed + expired + cancelled;
    }

    MessageState state() {
      return MessageState.of(cancelledAt != null, expandedAt != null, recipients, ended());
    }

    boolean done() {
      return expandedAt != null && ended() >= recipients;
    }
  }

  record DeliveryRow(
      String messageId,
      String deviceId,
      String state,
      @Nullable String channel,
      @Nullable String reason,
      String attempts,
      int duplicates,
      Instant queuedAt,
      @Nullable Instant finishedAt,
      @Nullable Instant displayedAt,
      @Nullable Instant openedAt) {}

  /// @param pushes in the form of a lane batch
  record LaterRow(String id, String pushes) {}

  record InboxRow(String deviceId, String slot) {}

  @Select(
      """
      SELECT id, audience, content, delivery, accepted_at, expires_at, expanded_at, cancelled_at,
        recipients, delivered, failed, expired, cancelled, duplicates, opened
      FROM messages WHERE day = #{day} AND id = #{id} AND app_id = #{app}
      """)
  @Nullable MessageRow find(
      @Param("app") String app, @Param("day") LocalDate day, @Param("id") String id);

  String DELIVERY =
      """
      SELECT message_id, device_id, state, channel, reason, attempts, duplicates, queued_at, finished_at,
        displayed_at, opened_at
      FROM deliveries
      """;

  @Select(
      DELIVERY
          + """
          WHERE day = #{day} AND message_id = #{id} AND app_id = #{app} AND device_id > #{after}
          ORDER BY device_id LIMIT #{limit}
          """)
  List<DeliveryRow> deliveries(
      @Param("app") String app,
      @Param("day") LocalDate day,
      @Param("id") String id,
      @Param("after") String after,
      @Param("limit") int limit);

  @Select(
      DELIVERY
          + """
          WHERE day = #{day} AND message_id = #{id} AND app_id = #{app} AND device_id = #{device}
          """)
  List<DeliveryRow> delivery(
      @Param("app") String app,
      @Param("day") LocalDate day,
      @Param("id") String id,
      @Param("device") String device);

  /// Newest first: message ids sort by time.
  @Select(
      DELIVERY
          + """
          WHERE app_id = #{app} AND device_id = #{device} AND message_id < #{before}
          ORDER BY message_id DESC LIMIT #{limit}
          """)
  List<DeliveryRow> deliveriesOf(
      @Param("app") String app,
      @Param("device") String device,
      @Param("before") String before,
      @Param("limit") int limit);

  @Select("SELECT COUNT(*) FROM devices WHERE app_id = #{app} AND device_id = #{device}")
  int countDevice(@Param("app") String app, @Param("device") String device);

  /// A row that is not there yet is written, with empty texts until the statistics role writes
  /// them.
  ///
  /// @param from when the message was made, by its id
  @Insert(
      """
      INSERT INTO messages (day, id, app_id, audience, content, delivery, accepted_at, expires_at, cancelled_at)
      VALUES (#{day}, #{id}, #{app}, '', '', '', #{from}, #{from}, #{now})
      ON DUPLICATE KEY UPDATE cancelled_at = COALESCE(cancelled_at, VALUES(cancelled_at))
      """)
  int cancel(
      @Param("app") String app,
      @Param("day") LocalDate day,
      @Param("id") String id,
      @Param("from") Instant from,
      @Param("now") Instant now);

  /// A worker ends the broadcast for the devices that still wait for it.
  @Update(
      """
      UPDATE broadcasts SET cancelled_at = COALESCE(cancelled_at, #{now})
      WHERE app_id = #{app} AND message_id = #{id}
      """)
  int cancelBroadcast(@Param("app") String app, @Param("id") String id, @Param("now") Instant now);

  /// Skips rows that a worker holds at this moment: the worker sees that the message is cancelled.
  @Select(
      """
      SELECT id, pushes FROM later
      WHERE app_id = #{app} AND message_id = #{id} AND lane NOT LIKE 'push.fanout%'
      LIMIT #{limit} FOR UPDATE SKIP LOCKED
      """)
  List<LaterRow> lockLater(
      @Param("app") String app, @Param("id") String id, @Param("limit") int limit);

  @Delete(
      """
      <script>
      DELETE FROM later WHERE id IN
      <foreach collection="ids" item="id" open="(" separator="," close=")">#{id}</foreach>
      </script>
      """)
  void deleteLater(@Param("ids") Collection<String> ids);

  /// Skips rows that another transaction holds at this moment.
  @Select(
      """
      SELECT device_id, slot FROM inbox
      WHERE app_id = #{app} AND message_id = #{id} LIMIT #{limit} FOR UPDATE SKIP LOCKED
      """)
  List<InboxRow> lockInbox(
      @Param("app") String app, @Param("id") String id, @Param("limit") int limit);

  @Select("SELECT EXISTS (SELECT 1 FROM inbox WHERE app_id = #{app} AND message_id = #{id})")
  boolean isInInboxes(@Param("app") String app, @Param("id") String id);

  /// The index is forced, because in a short table, or with another index, the statement would wait
  /// for rows of other devices.
  @Delete(
      """
      <script>
      DELETE inbox FROM inbox FORCE INDEX (PRIMARY) WHERE
      <foreach collection="rows" item="row" separator=" OR ">
        (app_id = #{app} AND device_id = #{row.deviceId} AND slot = #{row.slot} AND message_id = #{id})
      </foreach>
      </script>
      """)
  void deleteInbox(
      @Param("app") String app, @Param("id") String id, @Param("rows") Collection<InboxRow> rows);
}
