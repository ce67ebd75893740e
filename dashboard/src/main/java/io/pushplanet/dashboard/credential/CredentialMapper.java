package io.pushplanet.dashboard.credential;

import io.pushplanet.common.message.AppId;
import java.time.Instant;
import java.util.List;
import org.apache.ibatis.annotations.Insert;
import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Param;
import org.apache.ibatis.annotations.Select;
import org.apache.ibatis.annotations.Update;
import org.jspecify.annotations.Nullable;

@Mapper
interface CredentialMapper {
  @Select(
      """
      SELECT id, provider, environment, kind, state, detail, expires_at, created_at, created_by
      FROM credentials WHERE app_id = #{app} ORDER BY state, id DESC LIMIT 50
      """)
  List<StoredCredential> of(@Param("app") AppId app);

  @Select(
      """
      SELECT id FROM credentials
      WHERE app_id = #{app} AND provider = #{provider} AND environment = #{environment}
        AND state = 'active'
      """)
  List<Long> active(
      @Param("app") AppId app,
      @Param("provider") String provider,
      @Param("environment") String environment);

  @Update(
      "UPDATE credentials SET state = 'retired' WHERE id = #{id} AND app_id = #{app} AND state = 'active'")
  int retire(@Param("app") AppId app, @Param("id") long id);

  @Insert(
      """
      INSERT INTO credentials
        (app_id, provider, environment, kind, state, detail, secret, expires_at, created_at, created_by)
      VALUES (#{app}, #{provider}, #{environment}, #{kind}, 'active', #{detail}, #{secret},
        #{expiresAt}, #{now}, #{by})
      """)
  void insert(
      @Param("app") AppId app,
      @Param("provider") String provider,
      @Param("environment") String environment,
      @Param("kind") String kind,
      @Param("detail") String detail,
      @Param("secret") byte[] secret,
      @Param("expiresAt") @Nullable Instant expiresAt,
      @Param("now") Instant now,
      @Param("by") String by);

  @Select("SELECT LAST_INSERT_ID()")
  long inserted();
}
