package io.pushplanet.dispatcher.denial;

import java.time.Instant;
import java.util.List;
import org.apache.ibatis.annotations.Delete;
import org.apache.ibatis.annotations.Insert;
import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Param;
import org.apache.ibatis.annotations.Select;
import org.apache.ibatis.annotations.Update;
import org.jspecify.annotations.Nullable;

@Mapper
interface DenialMapper {
  /// @param ends when the last password of the device expires, to the second
  /// @param told the memory of the Redis that was told; null for none
  record Denied(String appId, String deviceId, Instant ends, @Nullable String told) {}

  @Select("SELECT ends FROM denied_devices WHERE app_id = #{app} AND device_id = #{device}")
  @Nullable Instant ends(@Param("app") String app, @Param("device") String device);

  @Insert(
      """
      INSERT INTO denied_devices (app_id, device_id, ends) VALUES (#{app}, #{device}, #{ends})
      ON DUPLICATE KEY UPDATE ends = GREATEST(ends, VALUES(ends)), told = NULL
      """)
  void deny(@Param("app") String app, @Param("device") String device, @Param("ends") Instant ends);

  /// Some devices that this Redis was not told, first those that no Redis was told.
  @Select(
      """
      SELECT app_id, device_id, ends, told FROM denied_devices
      WHERE told IS NULL OR told < #{redis} OR told > #{redis}
      ORDER BY told LIMIT #{most}
      """)
  List<Denied> untold(@Param("redis") String redis, @Param("most") int most);

  @Update(
      """
      <script>
      UPDATE denied_devices SET told = #{redis} WHERE
      <foreach collection="devices" item="it" separator=" OR ">
        (app_id = #{it.appId} AND device_id = #{it.deviceId} AND ends = #{it.ends})
      </foreach>
      </script>
      """)
  void told(@Param("redis") String redis, @Param("devices") List<Denied> devices);

  @Delete("DELETE FROM denied_devices WHERE ends < #{before} ORDER BY ends LIMIT #{most}")
  int trim(@Param("before") Instant before, @Param("most") int most);
}
