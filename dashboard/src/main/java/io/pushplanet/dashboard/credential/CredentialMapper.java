package io.pushplanet.dashboard.credential;

import io.pushplanet.common.message.AppId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.apache.ibatis.annotations.Insert;
import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Param;
import org.apache.ibatis.annotations.Select;
import org.apache.ibatis.annotations.Update;
import org.jspecify.annotations.Nullable;

@Mapper
interface CredentialMapper {
  String COLUMNS =
      """
      id, provider, environment, kind, state, detail, expires_at, created_at, created_by, overlap_until, paused_at,
        pause_reason, probe_at, probed_at, probe_verdict, probe_reason
      """;

  /// Those that may be in use come first, so that no number of candidates hides them.
  @Select(
      "SELECT "
          + COLUMNS
          + """
          FROM credentials WHERE app_id = #{app}
          ORDER BY FIELD(state, 'active', 'overlapping', 'candidate', 'retired'), id DESC LIMIT 50
          """)
  List<StoredCredential> of(@Param("app") AppId app);

  @Select("SELECT COUNT(*) FROM credentials WHERE app_id = #{app}")
  int count(@Param("app") AppId app);

  @Select("SELECT " + COLUMNS + " FROM credentials WHERE app_id = #{app} AND id = #{id}")
  Optional<StoredCredential> one(@Param("app") AppId app, @Param("id") long id);

  @Select(
      "SELECT "
          + COLUMNS
          + """
          FROM credentials
          WHERE app_id = #{app} AND provider = #{provider} AND environment = #{environment}
            AND state IN ('active', 'overlapping')
          """)
  List<StoredCredential> inUse(
      @Param("app") AppId app,
      @Param("provider") String provider,
      @Param("environment") String environment);

  /// An active credential overlaps from now on, if `until` is given. Otherwise it retires, as does
  /// one that overlapped already.
  @Update(
      """
      UPDATE credentials SET overlap_until = IF(state = 'active', #{until}, NULL),
        state = IF(state = 'active' AND #{until} IS NOT NULL, 'overlapping', 'retired'), probe_at = NULL
      WHERE id = #{id}
      """)
  void replace(@Param("id") long id, @Param("until") @Nullable Instant until);

  @Update(
      """
      UPDATE credentials SET state = 'active', overlap_until = NULL, probe_at = IF(paused_at IS NULL, NULL, #{now})
      WHERE id = #{id} AND app_id = #{app} AND state = #{from}
      """)
  int activate(
      @Param("app") AppId app,
      @Param("id") long id,
      @Param("from") String from,
      @Param("now") Instant now);

  @Update(
      """
      UPDATE credentials SET state = 'retired', overlap_until = NULL, probe_at = NULL, paused_at = NULL, pause_reason = NULL
      WHERE id = #{id} AND app_id = #{app} AND state <> 'retired'
      """)
  int retire(@Param("app") AppId app, @Param("id") long id);

  @Update(
      """
      UPDATE credentials SET probe_at = #{now}, probe_verdict = NULL, probe_reason = NULL
      WHERE id = #{id} AND app_id = #{app} AND state <> 'retired'
      """)
  int tryNow(@Param("app") AppId app, @Param("id") long id, @Param("now") Instant now);

  @Insert(
      """
      INSERT INTO credentials
        (app_id, provider, environment, kind, state, detail, secret, expires_at, created_at, created_by)
      VALUES (#{app}, #{provider}, #{environment}, #{kind}, 'candidate', #{detail}, '', #{expiresAt}, #{now}, #{by})
      """)
  void insert(
      @Param("app") AppId app,
      @Param("provider") String provider,
      @Param("environment") String environment,
      @Param("kind") String kind,
      @Param("detail") String detail,
      @Param("expiresAt") @Nullable Instant expiresAt,
      @Param("now") Instant now,
      @Param("by") String by);

  @Select("SELECT LAST_INSERT_ID()")
  long inserted();

  /// The secret comes after the row, because it is sealed for the row's id.
  @Update(
      "UPDATE credentials SET secret = #{secret}, key_id = #{key}, probe_at = #{probeAt} WHERE id = #{id}")
  void seal(
      @Param("id") long id,
      @Param("secret") byte[] secret,
      @Param("key") String key,
      @Param("probeAt") @Nullable Instant probeAt);

  /// The credentials of all apps that their provider refuses.
  @Select(
      """
      SELECT app_id, provider, environment, kind, pause_reason AS reason, NULL AS expires_at, NULL AS kept_at
      FROM credentials
      WHERE paused_at > '2000-01-01' AND state = 'active' ORDER BY paused_at DESC LIMIT 20
      """)
  List<Trouble> paused();

  /// The credentials of all apps that expire soon.
  @Select(
      """
      SELECT app_id, provider, environment, kind, NULL AS reason, expires_at, NULL AS kept_at FROM credentials
      WHERE expires_at >= #{now} AND expires_at < #{until} AND state = 'active' ORDER BY expires_at LIMIT 20
      """)
  List<Trouble> endingBetween(@Param("now") Instant now, @Param("until") Instant until);

  /// The credentials of all apps that have expired; the latest first.
  @Select(
      """
      SELECT app_id, provider, environment, kind, NULL AS reason, expires_at, NULL AS kept_at FROM credentials
      WHERE expires_at < #{now} AND state = 'active' ORDER BY expires_at DESC LIMIT 20
      """)
  List<Trouble> endedBefore(@Param("now") Instant now);

  /// The credentials whose tokens looked dead in such numbers that none was deleted, unless another
  /// credential has replaced them since.
  @Select(
      """
      SELECT app_id, SUBSTRING_INDEX(subject, '/', 1) AS provider,
        IF(LOCATE('/', subject) > 0, SUBSTRING_INDEX(subject, '/', -1), '') AS environment,
        'tokens' AS kind, NULL AS reason, NULL AS expires_at, MAX(at) AS kept_at
      FROM alerts
      WHERE at > #{since} AND kind = 'tokens_kept' AND NOT EXISTS (
        SELECT 1 FROM credentials
        WHERE credentials.app_id = alerts.app_id AND credentials.provider = SUBSTRING_INDEX(alerts.subject, '/', 1)
          AND credentials.state = 'active' AND credentials.created_at > alerts.at)
      GROUP BY app_id, subject ORDER BY kept_at DESC LIMIT 20
      """)
  List<Trouble> tokensKeptSince(@Param("since") Instant since);

  /// The names of master keys, with the number of credentials that each seals.
  @Select(
      "SELECT key_id AS name, COUNT(*) AS sealed FROM credentials WHERE key_id > '' GROUP BY key_id ORDER BY key_id")
  List<SealedBy> sealedBy();

  @Select("SELECT COUNT(*) FROM credentials WHERE key_id IS NULL OR key_id <> #{name}")
  long countNotSealedBy(@Param("name") String name);

  @Select("SELECT COUNT(*) FROM credentials WHERE key_id IS NULL")
  long sealedBySomeKey();

  @Select(
      """
      SELECT id, app_id, provider, environment, secret FROM credentials
      WHERE id > #{after} AND (key_id IS NULL OR key_id <> #{name}) ORDER BY id LIMIT 100
      """)
  List<SealedCredential> notSealedBy(@Param("after") long after, @Param("name") String name);

  @Update(
      "UPDATE credentials SET secret = #{secret}, key_id = #{key} WHERE id = #{id} AND secret = #{before}")
  int reseal(
      @Param("id") long id,
      @Param("before") byte[] before,
      @Param("secret") byte[] secret,
      @Param("key") String key);

  @Select(
      "SELECT kind, subject, text, at FROM alerts WHERE app_id = #{app} ORDER BY id DESC LIMIT 10")
  List<Alert> alerts(@Param("app") AppId app);
}
