package io.pushplanet.dashboard.audit;

import java.time.Instant;
import java.util.List;
import org.apache.ibatis.annotations.Delete;
import org.apache.ibatis.annotations.Insert;
import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Param;
import org.apache.ibatis.annotations.Select;

@Mapper
interface AuditMapper {
  @Insert(
      """
      INSERT INTO audit (at, operator, action, subject, detail)
      VALUES (#{at}, #{operator}, #{action}, #{subject}, #{detail})
      """)
  void insert(
      @Param("at") Instant at,
      @Param("operator") String operator,
      @Param("action") String action,
      @Param("subject") String subject,
      @Param("detail") String detail);

  @Select(
      """
      SELECT id, at, operator, action, subject, detail FROM audit
      WHERE id < #{before} ORDER BY id DESC LIMIT #{most}
      """)
  List<AuditEntry> before(@Param("before") long before, @Param("most") int most);

  @Delete("DELETE FROM audit WHERE at < #{before} ORDER BY at LIMIT #{most}")
  int deleteBefore(@Param("before") Instant before, @Param("most") int most);
}
