package io.pushplanet.dashboard.overview;

import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Param;
import org.apache.ibatis.annotations.Select;

@Mapper
interface StatisticsMapper {
  /// All rows since `from`, which is on `day`: two ranges of the primary key.
  @Select(
      """
      SELECT minute, outcome, reason, SUM(count) AS count FROM statistics_minutes
      WHERE (day = #{day} AND minute >= #{from}) OR day > #{day}
      GROUP BY minute, outcome, reason
      """)
  List<Counted> since(@Param("day") LocalDate day, @Param("from") Instant from);

  record Counted(Instant minute, String outcome, String reason, long count) {}
}
