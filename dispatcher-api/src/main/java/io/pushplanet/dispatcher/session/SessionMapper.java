package io.pushplanet.dispatcher.session;

import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Param;
import org.apache.ibatis.annotations.Update;

@Mapper
interface SessionMapper {
  /// The newest update of each device wins, but not over a later registration.
  ///
  /// The driver joins a batch of these to one statement.
  @Update(
      """
      UPDATE devices SET
        app_version = IF(#{it.at} < updated_at, app_version, COALESCE(#{it.appVersion}, app_version)),
        locale = IF(#{it.at} < updated_at, locale, COALESCE(#{it.locale}, locale)),
        timezone = IF(#{it.at} < updated_at, timezone, COALESCE(#{it.timezone}, timezone)),
        seen_at = GREATEST(seen_at, #{it.at})
      WHERE app_id = #{it.key.app.value} AND device_id = #{it.key.device.value}
      """)
  int seen(@Param("it") Seen seen);
}
