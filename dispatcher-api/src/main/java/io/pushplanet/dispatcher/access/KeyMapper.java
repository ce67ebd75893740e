package io.pushplanet.dispatcher.access;

import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Select;
import org.jspecify.annotations.Nullable;

@Mapper
interface KeyMapper {
  @Select("SELECT id, app_id, hash, scopes, revoked_at FROM api_keys WHERE id = #{id}")
  @Nullable StoredKey find(String id);
}
