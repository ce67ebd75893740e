package io.pushplanet.dispatcher.activity;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.apache.ibatis.annotations.Insert;
import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Param;
import org.apache.ibatis.annotations.Select;
import org.apache.ibatis.annotations.Update;
import org.jspecify.annotations.Nullable;

@Mapper
interface ChannelMapper {
  record Row(
      String channelId,
      String environment,
      String keeps,
      String state,
      @Nullable String reason,
      @Nullable String apnsId,
      Instant createdAt,
      @Nullable Instant readyAt) {}

  /// The row is due at once. A repeat after a crash has the same id and changes nothing.
  @Insert(
      """
      INSERT INTO live_activity_channels (app_id, channel_id, environment, keeps, state, created_at, due_at)
      VALUES (#{app}, #{channel}, #{environment}, #{keeps}, 'pending', #{now}, #{now})
      ON DUPLICATE KEY UPDATE channel_id = channel_id
      """)
  void insert(
      @Param("app") String app,
      @Param("channel") String channel,
      @Param("environment") String environment,
      @Param("keeps") String keeps,
      @Param("now") Instant now);

  @Select(
      """
      SELECT COUNT(*) FROM (SELECT 1 FROM live_activity_channels
        WHERE app_id = #{app} AND environment = #{environment} LIMIT #{most}) some
      """)
  int count(
      @Param("app") String app, @Param("environment") String environment, @Param("most") int most);

  @Select(
      """
      SELECT channel_id, environment, keeps, state, reason, apns_id, created_at, ready_at FROM live_activity_channels
      WHERE app_id = #{app} AND channel_id = #{channel}
      """)
  Optional<Row> find(@Param("app") String app, @Param("channel") String channel);

  @Select(
      """
      SELECT channel_id, environment, keeps, state, reason, apns_id, created_at, ready_at FROM live_activity_channels
      WHERE app_id = #{app} AND channel_id > #{after} ORDER BY channel_id LIMIT #{limit}
      """)
  List<Row> after(
      @Param("app") String app, @Param("after") String after, @Param("limit") int limit);

  /// A channel that a worker is working on (`due_at` is the worker's claim) is deleted after that.
  @Update(
      """
      UPDATE live_activity_channels
      SET due_at = COALESCE(due_at, #{now}), tries = IF(state = 'deleting', tries, 0), reason = NULL, state = 'deleting'
      WHERE app_id = #{app} AND channel_id = #{channel}
      """)
  void delete(
      @Param("app") String app, @Param("channel") String channel, @Param("now") Instant now);
}
