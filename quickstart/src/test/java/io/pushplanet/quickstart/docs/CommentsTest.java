package io.pushplanet.quickstart.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// The formatter breaks lines of code, but not those of comments.
class CommentsTest {
  private static final int COLUMNS = 100;
  private static final Pattern COMMENT = Pattern.compile("\\s*//.*");

  @Test
  void no_line_of_a_comment_is_too_long_but_for_a_link() throws IOException {
    List<Path> sources = Pages.ending(".java");
    assertThat(sources).hasSizeGreaterThan(1_000);
    List<String> tooLong = new ArrayList<>();
    for (Path source : sources) {
      List<String> lines = Pages.read(Pages.ROOT.resolve(source)).lines().toList();
      for (int i = 0; i < lines.size(); i++) {
        if (isTooLong(lines.get(i))) {
          tooLong.add(source + ":" + (i + 1));
        }
      }
    }

    assertThat(tooLong).as("lines of comments longer than %d columns", COLUMNS).isEmpty();
  }

  private static boolean isTooLong(String line) {
    return line.length() > COLUMNS && COMMENT.matcher(line).matches() && !line.contains("://");
  }
}
