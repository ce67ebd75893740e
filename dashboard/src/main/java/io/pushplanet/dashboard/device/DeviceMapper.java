package io.pushplanet.dashboard.device;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import java.util.List;
import java.util.Optional;
import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Param;
import org.apache.ibatis.annotations.Select;

@Mapper
interface DeviceMapper {
  String DEVICE =
      """
      SELECT app_id, device_id, platform, mqtt, user_id, locale, timezone, app_version, created_at,
        updated_at, seen_at
      FROM devices
      """;

  @Select(DEVICE + "WHERE app_id = #{app} AND device_id = #{device}")
  Optional<DeviceRow> find(@Param("app") AppId app, @Param("device") DeviceId device);

  @Select(
      DEVICE + "WHERE app_id = #{app} AND device_id > #{after} ORDER BY device_id LIMIT #{most}")
  List<DeviceRow> after(
      @Param("app") AppId app, @Param("after") String after, @Param("most") int most);

  @Select(
      DEVICE
          + """
          WHERE app_id = #{app} AND user_id = #{user} AND device_id > #{after}
          ORDER BY device_id LIMIT #{most}
          """)
  List<DeviceRow> ofUser(
      @Param("app") AppId app,
      @Param("user") String user,
      @Param("after") String after,
      @Param("most") int most);

  @Select(
      """
      SELECT channel, token, kind, environment, registered_at, dead_at, dead_reason
      FROM channel_tokens WHERE app_id = #{app} AND device_id = #{device}
      """)
  List<TokenRow> tokens(@Param("app") AppId app, @Param("device") DeviceId device);

  @Select(
      """
      SELECT topic FROM device_topics
      WHERE app_id = #{app} AND device_id = #{device} ORDER BY topic LIMIT 200
      """)
  List<String> topics(@Param("app") AppId app, @Param("device") DeviceId device);

  @Select(
      """
      SELECT tag FROM device_tags
      WHERE app_id = #{app} AND device_id = #{device} ORDER BY tag LIMIT 200
      """)
  List<String> tags(@Param("app") AppId app, @Param("device") DeviceId device);
}
