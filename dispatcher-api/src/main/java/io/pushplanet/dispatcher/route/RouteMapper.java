package io.pushplanet.dispatcher.route;

import io.pushplanet.common.message.target.DeviceTokens;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Param;
import org.apache.ibatis.annotations.Select;
import org.jspecify.annotations.Nullable;

@Mapper
interface RouteMapper {
  /// A device with one of its tokens that are not dead. A device without tokens has one row, and a
  /// device with two tokens has two.
  record Row(
      String deviceId,
      String platform,
      boolean mqtt,
      @Nullable String channel,
      @Nullable String token,
      @Nullable String kind,
      @Nullable String environment,
      @Nullable Instant registeredAt)
      implements DeviceTokens.Row {}

  @Select(
      """
      <script>
      SELECT d.device_id, d.platform, d.mqtt, t.channel, t.token, t.kind, t.environment, t.registered_at
      FROM devices d
      LEFT JOIN channel_tokens t
        ON t.app_id = d.app_id AND t.device_id = d.device_id AND t.dead_at IS NULL
      WHERE d.app_id = #{app} AND d.device_id IN
      <foreach collection="devices" item="device" open="(" separator="," close=")">#{device}</foreach>
      </script>
      """)
  List<Row> find(@Param("app") String app, @Param("devices") Collection<String> devices);
}
