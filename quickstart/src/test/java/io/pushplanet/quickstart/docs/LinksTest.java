package io.pushplanet.quickstart.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// A broken link costs a newcomer the evening.
class LinksTest {
  private static final Pattern LINK = Pattern.compile("]\\(([^)#\\s]*)(#[^)\\s]*)?\\)");
  private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");

  static Stream<Path> pages() throws IOException {
    List<Path> pages = Pages.all();
    assertThat(pages).contains(Path.of("README.md"), Path.of("docs/the-way-of-a-message.md"));
    return pages.stream();
  }

  @ParameterizedTest
  @MethodSource("pages")
  void every_link_of_a_page_has_a_target(Path page) throws IOException {
    Path file = Pages.ROOT.resolve(page);

    List<String> broken =
        LINK.matcher(Files.readString(file))
            .results()
            .filter(link -> !link.group(1).contains("://") && !link.group(1).startsWith("mailto:"))
            .filter(link -> !leadsSomewhere(file, link.group(1), link.group(2)))
            .map(link -> link.group())
            .toList();

    assertThat(broken).as("broken links of %s", page).isEmpty();
  }

  private static boolean leadsSomewhere(Path from, String path, String anchor) {
    Path target = path.isEmpty() ? from : from.resolveSibling(path);
    if (!Files.exists(target)) {
      return false;
    }
    return anchor == null
        || !target.toString().endsWith(".md")
        || anchors(target).contains(anchor.substring(1));
  }

  /// Anchors as GitHub makes them: lower case, dashes for spaces, no other signs.
  private static List<String> anchors(Path page) {
    return HEADING
        .matcher(Pages.read(page))
        .results()
        .map(heading -> heading.group(1).toLowerCase(Locale.ROOT))
        .map(heading -> heading.replaceAll("[^a-z0-9 _-]", "").replace(' ', '-'))
        .toList();
  }
}
