package io.pushplanet.dispatcher.audience;

import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Param;
import org.apache.ibatis.annotations.Select;

@Mapper
interface AudienceMapper {
  record Channel(
      String environment,
      String keeps,
      String state,
      String reason,
      String apnsId,
      Instant createdAt) {}

  @Select(
      """
      SELECT environment, keeps, state, COALESCE(reason, '') AS reason, COALESCE(apns_id, '') AS apns_id, created_at
      FROM live_activity_channels
      WHERE app_id = #{app} AND channel_id = #{channel}
      """)
  Optional<Channel> channel(@Param("app") String app, @Param("channel") String channel);

  record DeviceOfUser(String deviceId, String userId) {}

  @Select(
      """
      <script>
      SELECT device_id, user_id FROM devices WHERE app_id = #{app} AND user_id IN
      <foreach collection="users" item="user" open="(" separator="," close=")">#{user}</foreach>
      LIMIT #{most}
      </script>
      """)
  List<DeviceOfUser> devicesOf(
      @Param("app") String app, @Param("users") Collection<String> users, @Param("most") int most);

  @Select(
      """
      <script>
      SELECT COUNT(*) FROM (SELECT 1 FROM devices WHERE app_id = #{app} AND user_id IN
      <foreach collection="users" item="user" open="(" separator="," close=")">#{user}</foreach>
      LIMIT #{most}) some
      </script>
      """)
  int countUsers(
      @Param("app") String app, @Param("users") Collection<String> users, @Param("most") int most);

  @Select(
      """
      SELECT COUNT(*) FROM (SELECT 1 FROM device_topics
        WHERE app_id = #{app} AND topic = #{topic} LIMIT #{most}) some
      """)
  int countTopic(@Param("app") String app, @Param("topic") String topic, @Param("most") int most);

  @Select(
      """
      SELECT COUNT(*) FROM (SELECT 1 FROM device_tags
        WHERE app_id = #{app} AND tag = #{tag} LIMIT #{most}) some
      """)
  int countTag(@Param("app") String app, @Param("tag") String tag, @Param("most") int most);

  @Select(
      """
      SELECT COUNT(*) FROM (SELECT 1 FROM devices WHERE app_id = #{app} LIMIT #{most}) some
      """)
  int countAll(@Param("app") String app, @Param("most") int most);
}
