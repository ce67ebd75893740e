package io.pushplanet.dashboard.page;

import java.sql.CallableStatement;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.function.Function;
import org.apache.ibatis.type.BaseTypeHandler;
import org.apache.ibatis.type.JdbcType;
import org.jspecify.annotations.Nullable;

/// Maps a text column to an id or an enum.
public final class TextTypeHandler<T> extends BaseTypeHandler<T> {
  private final Function<String, T> read;
  private final Function<T, String> write;

  public TextTypeHandler(Function<String, T> read, Function<T, String> write) {
    this.read = read;
    this.write = write;
  }

  @Override
  public void setNonNullParameter(
      PreparedStatement statement, int index, T value, @Nullable JdbcType type)
      throws SQLException {
    statement.setString(index, write.apply(value));
  }

  @Override
  public @Nullable T getNullableResult(ResultSet rows, String column) throws SQLException {
    return orNull(rows.getString(column));
  }

  @Override
  public @Nullable T getNullableResult(ResultSet rows, int column) throws SQLException {
    return orNull(rows.getString(column));
  }

  @Override
  public @Nullable T getNullableResult(CallableStatement rows, int column) throws SQLException {
    return orNull(rows.getString(column));
  }

  private @Nullable T orNull(@Nullable String text) {
    return text == null ? null : read.apply(text);
  }
}
