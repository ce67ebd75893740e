package io.pushplanet.quickstart.services;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DirectoryTreeTest {
  @TempDir Path temp;

  @Test
  void logs_and_their_folders_stay_when_all_else_is_deleted() throws Exception {
    Path root = temp.resolve("services");
    write(root.resolve("mysql/data/mysql/user.frm"));
    write(root.resolve("mysql/mariadb.log"));
    write(root.resolve("amqp/log/rabbit.log"));
    write(root.resolve("redis/dump.rdb"));
    Path elsewhere = write(temp.resolve("elsewhere/kept"));
    Files.createSymbolicLink(root.resolve("link"), elsewhere.getParent());

    DirectoryTree.deleteAllButLogs(root);

    assertThat(all(root))
        .containsExactlyInAnyOrder(
            "", "mysql", "mysql/mariadb.log", "amqp", "amqp/log", "amqp/log/rabbit.log");
    assertThat(elsewhere).exists();
  }

  @Test
  void a_missing_folder_is_already_deleted() throws Exception {
    DirectoryTree.deleteAllButLogs(temp.resolve("none"));
    DirectoryTree.delete(temp.resolve("none"));

    assertThat(temp).isEmptyDirectory();
  }

  private static Path write(Path file) throws IOException {
    Files.createDirectories(file.getParent());
    return Files.writeString(file, "some bytes");
  }

  private static List<String> all(Path root) throws IOException {
    try (Stream<Path> paths = Files.walk(root)) {
      return paths.map(path -> root.relativize(path).toString()).toList();
    }
  }
}
