package io.pushplanet.quickstart.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// A page that leads nowhere costs a newcomer the evening.
class LinksTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Pattern LINK = Pattern.compile("]\\(([^)#\\s]+)(#[^)]*)?\\)");

  static Stream<Path> pages() throws IOException {
    try (Stream<Path> files = Files.walk(ROOT, 4)) {
      List<Path> pages =
          files
              .filter(file -> file.toString().endsWith(".md"))
              .filter(file ->
                  !file.toString().contains("/target/")
                      && !ROOT.relativize(file).toString().startsWith("."))
              .map(ROOT::relativize)
              .toList();
      assertThat(pages).contains(Path.of("README.md"), Path.of("docs/the-way-of-a-message.md"));
      return pages.stream();
    }
  }

  @ParameterizedTest
  @MethodSource("pages")
  void every_link_of_a_page_leads_somewhere(Path page) throws IOException {
    Path folder = ROOT.resolve(page).getParent();

    List<String> broken =
        LINK.matcher(Files.readString(ROOT.resolve(page)))
            .results()
            .map(link -> link.group(1))
            .filter(link -> !link.contains("://") && !link.startsWith("mailto:"))
            .filter(link -> !Files.exists(folder.resolve(link)))
            .toList();

    assertThat(broken).as("broken links of %s", page).isEmpty();
  }
}
