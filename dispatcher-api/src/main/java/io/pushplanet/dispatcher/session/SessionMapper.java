package io.pushplanet.dispatcher.session;

import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Param;
import org.apache.ibatis.annotations.Update;

@Mapper
interface SessionMapper {
  /// The newest value that each device gave wins, but not over a later registration.
  ///
  /// The driver joins a batch of these to one statement.
  @Update(
      """
      UPDATE devices SET
        app_version = IF(#{it.appVersion.at} >= updated_at, #{it.appVersion.value}, app_version),
        locale = IF(#{it.locale.at} >= updated_at, #{it.locale.value}, locale),
        timezone = IF(#{it.timezone.at} >= updated_at, #{it.timezone.value}, timezone),
        seen_at = GREATEST(seen_at, #{it.at})
      WHERE app_id = #{it.key.app.value} AND device_id = #{it.key.device.value}
      """)
  int seen(@Param("it") Seen seen);
}
