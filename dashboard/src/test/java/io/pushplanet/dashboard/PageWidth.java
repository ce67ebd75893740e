package io.pushplanet.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.Eventually;
import io.pushplanet.dashboard.browser.Chromium;
import java.time.Duration;
import java.util.List;

/// Checks that a page shows everything within the width of the window.
final class PageWidth {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private PageWidth() {}

  /// Waits until the charts have drawn themselves again, a moment after the width of the window
  /// changed.
  static void holds(Chromium chromium, String page) {
    Eventually.within(PATIENCE, () -> assertHolds(chromium, page));
  }

  /// A card hides the part of an element that is too wide, and cannot be scrolled. So each element
  /// is checked.
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
