package io.pushplanet.dashboard.app;

import io.pushplanet.common.message.AppId;
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
interface AppMapper {
  /// In the order of their ids, those after `after` whose id or name contains `find`; an empty text
  /// finds all. May read the whole table to find `most` of them.
  @Select(
      """
      SELECT id, name, created_at FROM apps
      WHERE id > #{after} AND LOCATE(#{find}, CONCAT(id, ' ', name)) > 0
      ORDER BY id LIMIT #{most}
      """)
  List<App> appsAfter(
      @Param("find") String find, @Param("after") String after, @Param("most") int most);

  @Select("SELECT id, name, created_at FROM apps WHERE id = #{id}")
  Optional<App> app(@Param("id") AppId id);

  /// Makes the changes of one app wait for each other.
  @Select("SELECT id, name, created_at FROM apps WHERE id = #{id} FOR UPDATE")
  Optional<App> appForUpdate(@Param("id") AppId id);

  @Insert("INSERT INTO apps (id, name, created_at) VALUES (#{id}, #{name}, #{now})")
  void insertApp(@Param("id") AppId id, @Param("name") String name, @Param("now") Instant now);

  @Update("UPDATE apps SET name = #{name} WHERE id = #{id}")
  int renameApp(@Param("id") AppId id, @Param("name") String name);

  /// Whether the app has ever had a key, a credential, or anything that was stored without a key.
  /// Without a key it can have neither devices nor messages.
  @Select(
      """
      SELECT EXISTS (SELECT 1 FROM api_keys WHERE app_id = #{app})
        OR EXISTS (SELECT 1 FROM credentials WHERE app_id = #{app})
        OR EXISTS (SELECT 1 FROM devices WHERE app_id = #{app})
        OR EXISTS (SELECT 1 FROM messages WHERE app_id = #{app})
      """)
  boolean used(@Param("app") AppId app);

  @Delete("DELETE FROM apps WHERE id = #{id}")
  void deleteApp(@Param("id") AppId id);

  /// The column itself takes `á` for `a`.
  @Select(
      """
      SELECT id, app_id, name, scopes, created_at, revoked_at FROM api_keys
      WHERE app_id = #{app} AND name COLLATE utf8mb4_bin <> #{without}
      ORDER BY revoked_at IS NOT NULL, created_at DESC LIMIT 50
      """)
  List<StoredKey> keys(@Param("app") AppId app, @Param("without") String without);

  @Select(
      """
      SELECT COUNT(*) FROM api_keys
      WHERE app_id = #{app} AND name COLLATE utf8mb4_bin <> #{without}
      """)
  int countKeys(@Param("app") AppId app, @Param("without") String without);

  @Select(
      """
      SELECT COUNT(*) FROM api_keys
      WHERE app_id = #{app} AND name COLLATE utf8mb4_bin <> #{without} AND revoked_at IS NULL
      """)
  int liveKeys(@Param("app") AppId app, @Param("without") String without);

  @Select(
      """
      SELECT id FROM api_keys
      WHERE app_id = #{app} AND name COLLATE utf8mb4_bin = #{name} AND revoked_at IS NULL AND created_at < #{until}
      """)
  List<String> liveKeysNamed(
      @Param("app") AppId app, @Param("name") String name, @Param("until") Instant until);

  @Insert(
      """
      INSERT INTO api_keys (id, app_id, name, hash, scopes, created_at)
      VALUES (#{id}, #{app}, #{name}, #{hash}, #{scopes}, #{now})
      """)
  void insertKey(
      @Param("id") String id,
      @Param("app") AppId app,
      @Param("name") String name,
      @Param("hash") byte[] hash,
      @Param("scopes") String scopes,
      @Param("now") Instant now);

  @Select("SELECT EXISTS (SELECT 1 FROM api_keys WHERE id = #{id} AND app_id = #{app})")
  boolean hasKey(@Param("app") AppId app, @Param("id") String id);

  @Update(
      """
      UPDATE api_keys SET revoked_at = #{now}
      WHERE id = #{id} AND app_id = #{app} AND revoked_at IS NULL
      """)
  int revokeKey(@Param("app") AppId app, @Param("id") String id, @Param("now") Instant now);
}
