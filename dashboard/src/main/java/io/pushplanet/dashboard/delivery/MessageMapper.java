package io.pushplanet.dashboard.delivery;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import java.time.LocalDate;
import java.util.List;
import java.util.Optional;
import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Param;
import org.apache.ibatis.annotations.Select;

@Mapper
interface MessageMapper {
  /// The characters of an audience that a list reads, because it shows only a few words of it. An
  /// audience may have a megabyte, and those of one page would take a large part of the heap.
  int AUDIENCE_LISTED = 4_096;

  String FURTHER_COLUMNS =
      """
      , content, delivery, accepted_at, expires_at, expanded_at, cancelled_at,
        recipients, delivered, failed, expired, cancelled, duplicates, opened
      FROM messages
      """;

  String MESSAGE = "SELECT id, app_id, audience" + FURTHER_COLUMNS;

  String LISTED_MESSAGE =
      "SELECT id, app_id, LEFT(audience, " + AUDIENCE_LISTED + ") AS audience" + FURTHER_COLUMNS;

  String DELIVERY =
      """
      SELECT message_id, device_id, state, channel, reason, attempts, duplicates, queued_at, finished_at,
        displayed_at, opened_at
      FROM deliveries
      """;

  /// The newest first, beginning after the message `before` of day `day`. Of a longer audience,
  /// only the first [#AUDIENCE_LISTED] characters.
  @Select(
      LISTED_MESSAGE
          + """
          WHERE day <= #{day} AND (day < #{day} OR id < #{before})
          ORDER BY day DESC, id DESC LIMIT #{most}
          """)
  List<MessageRow> before(
      @Param("day") LocalDate day, @Param("before") String before, @Param("most") int most);

  /// The newest first, as [#before] reads them.
  @Select(
      LISTED_MESSAGE + "WHERE app_id = #{app} AND id < #{before} ORDER BY id DESC LIMIT #{most}")
  List<MessageRow> ofAppBefore(
      @Param("app") AppId app, @Param("before") String before, @Param("most") int most);

  @Select(MESSAGE + "WHERE day = #{day} AND id = #{id}")
  Optional<MessageRow> find(@Param("day") LocalDate day, @Param("id") MessageId id);

  @Select(
      DELIVERY
          + """
          WHERE day = #{day} AND message_id = #{id} AND device_id > #{after}
          ORDER BY device_id LIMIT #{most}
          """)
  List<DeliveryRow> deliveriesAfter(
      @Param("day") LocalDate day,
      @Param("id") MessageId id,
      @Param("after") String after,
      @Param("most") int most);

  @Select(
      DELIVERY
          + """
          WHERE app_id = #{app} AND device_id = #{device} AND message_id < #{before}
          ORDER BY message_id DESC LIMIT #{most}
          """)
  List<DeliveryRow> deliveriesOfDevice(
      @Param("app") AppId app,
      @Param("device") DeviceId device,
      @Param("before") String before,
      @Param("most") int most);
}
