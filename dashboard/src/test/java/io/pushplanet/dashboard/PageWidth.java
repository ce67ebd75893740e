package io.pushplanet.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.Eventually;
import io.pushplanet.dashboard.browser.Chromium;
import java.time.Duration;
import java.util.List;

/// That a page shows all it has in the width of the window.
final class PageWidth {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private PageWidth() {}

  /// Once charts have drawn themselves again, which they do a moment after the window has another width.
  static void holds(Chromium chromium, String page) {
    Eventually.within(PATIENCE, () -> assertHolds(chromium, page));
  }

  /// A card cuts off what sticks out, so that nobody can scroll there: each element is looked at.
  private static void assertHolds(Chromium chromium, String page) {
    assertThat(
            chromium.script(
                """
                return [...document.querySelectorAll('main, main *')]
                  .filter(one => !one.closest('.scroll, .skip, thead, option'))
                  .filter(one => {
                    const edge = one.closest('.card')?.getBoundingClientRect().right ?? innerWidth;
                    return one.getBoundingClientRect().right > edge + 1;
                  })
                  .map(one => one.tagName + '.' + one.className + ' ' + one.textContent.slice(0, 40));
                """))
        .as("what sticks out on " + page)
        .isEqualTo(List.of());
    assertThat(
            chromium.script(
                "return document.documentElement.scrollWidth - document.documentElement.clientWidth"))
        .as("scrolling sideways on " + page)
        .isEqualTo(0L);
  }
}
