package io.pushplanet.dispatcher.uplink;

import java.time.Instant;
import java.util.List;
import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Param;
import org.apache.ibatis.annotations.Select;
import org.jspecify.annotations.Nullable;

@Mapper
interface UplinkMapper {
  /// @param userProperties a JSON array of `[name, value]` pairs; null for none
  record Row(
      long id,
      String eventId,
      String deviceId,
      Instant at,
      byte[] payload,
      @Nullable String userProperties) {}

  /// No row with a smaller id than the cursor appears later: the worker assigns the ids of an app
  /// in the order in which they are committed. A worker of the version before does not, so the
  /// statement waits for rows that are being written.
  @Select(
      """
      SELECT id, event_id, device_id, at, payload, user_properties FROM uplinks
      WHERE app_id = #{app} AND id > #{after} ORDER BY id LIMIT #{limit} LOCK IN SHARE MODE
      """)
  List<Row> after(@Param("app") String app, @Param("after") long after, @Param("limit") int limit);
}
