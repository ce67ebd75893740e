package io.pushplanet.dashboard.login;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.apache.ibatis.annotations.Delete;
import org.apache.ibatis.annotations.Insert;
import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Param;
import org.apache.ibatis.annotations.Select;
import org.apache.ibatis.annotations.Update;

@Mapper
interface OperatorMapper {
  @Select("SELECT * FROM operators WHERE name = #{name}")
  Optional<Operator> find(@Param("name") String name);

  /// The name that differs from this one in capitals at most; it may be the same.
  @Select("SELECT name FROM operators WHERE LOWER(name) = LOWER(#{name}) LIMIT 1")
  Optional<String> nameLike(@Param("name") String name);

  @Select("SELECT * FROM operators WHERE name > #{after} ORDER BY name LIMIT #{most}")
  List<Operator> after(@Param("after") String after, @Param("most") int most);

  @Select("SELECT EXISTS (SELECT 1 FROM operators)")
  boolean any();

  /// Locks the admins, so that two of them cannot remove each other at once.
  @Select("SELECT name FROM operators WHERE role = 'admin' FOR UPDATE")
  List<String> adminsForUpdate();

  @Insert(
      """
      INSERT INTO operators (name, password, role, created_at)
      VALUES (#{name}, #{password}, #{role}, #{now})
      """)
  void insert(
      @Param("name") String name,
      @Param("password") String password,
      @Param("role") Role role,
      @Param("now") Instant now);

  /// Checks the lock again, because it may have been set while the password was checked.
  ///
  /// @return 0 when the name is locked now, or gone
  @Update(
      """
      UPDATE operators SET failed_logins = 0, locked_until = NULL
      WHERE name = #{name} AND (locked_until IS NULL OR locked_until <= #{now})
      """)
  int proved(@Param("name") String name, @Param("now") Instant now);

  @Update("UPDATE operators SET last_login_at = #{now} WHERE name = #{name}")
  void loggedIn(@Param("name") String name, @Param("now") Instant now);

  /// The assignments are evaluated from left to right. A lock that has expired starts the count
  /// again.
  ///
  /// @return 0 when the name is locked already, or gone
  @Update(
      """
      UPDATE operators
      SET failed_logins = IF(locked_until IS NULL, failed_logins + 1, 1),
          locked_until = IF(failed_logins >= #{most}, #{lockedUntil}, NULL)
      WHERE name = #{name} AND (locked_until IS NULL OR locked_until <= #{now})
      """)
  int failed(
      @Param("name") String name,
      @Param("now") Instant now,
      @Param("most") int most,
      @Param("lockedUntil") Instant lockedUntil);

  @Update("UPDATE operators SET failed_logins = 0, locked_until = NULL WHERE name = #{name}")
  int unlock(@Param("name") String name);

  @Update("UPDATE operators SET password = #{password} WHERE name = #{name}")
  int setPassword(@Param("name") String name, @Param("password") String password);

  @Update("UPDATE operators SET role = #{role} WHERE name = #{name}")
  int setRole(@Param("name") String name, @Param("role") Role role);

  @Delete("DELETE FROM operators WHERE name = #{name}")
  int delete(@Param("name") String name);
}
