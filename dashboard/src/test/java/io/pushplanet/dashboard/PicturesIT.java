package io.pushplanet.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.dashboard.browser.Chromium;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Takes a picture of every page, wide and on a phone, light and dark, into `target/screenshots`.
/// It also checks what a program can check of them: no complaint of the browser, and no sideways
/// scrolling on a phone.
class PicturesIT {
  private final RunningDashboard dashboard = RunningDashboard.shared();

  @Test
  void every_page_fits_a_phone_and_keeps_the_content_security_policy() throws Exception {
    Rows rows = new Rows(dashboard.sql());
    rows.app("shop", "Shop for Android and iOS");
    rows.app("bank", "Bank");
    rows.app("game-with-a-rather-long-identifier", "Game");
    rows.lastDay("shop");
    rows.device("shop", "iphone-4711", "ios", "u-1001");
    rows.token("shop", "iphone-4711", "apns", "0f".repeat(32), false);
    rows.device("shop", "pixel-8-of-the-test-lab", "android", "u-1001");
    rows.token("shop", "pixel-8-of-the-test-lab", "fcm", "dQw4:APA91b" + "xY".repeat(60), true);
    String message = "";
    for (int i = 0; i < 12; i++) {
      message =
          rows.message(
              "shop",
              i == 3 ? "<b>Sale</b> & more" : "Order " + (70 + i) + " is on its way",
              "It will be with you tomorrow before noon. Follow it in the app.",
              i % 3 == 0
                  ? "{\"kind\":\"topic\",\"topic\":\"news\"}"
                  : "{\"kind\":\"devices\",\"devices\":[\"iphone-4711\"]}",
              i % 3 == 0 ? 18_450 + i : 1);
    }
    rows.delivery(
        "shop",
        message,
        "iphone-4711",
        "failed",
        """
        [{"channel":"mqtt","at":"2026-11-21T10:00:00.120Z","result":"not_here","action":"fell back to apns"},
         {"channel":"apns","at":"2026-11-21T10:00:00.350Z","result":"rejected","status":410,"reason":"Unregistered","action":"token forgotten"}]
        """);
    rows.delivery(
        "shop",
        message,
        "pixel-8-of-the-test-lab",
        "delivered",
        "[{\"channel\":\"mqtt\",\"at\":\"2026-11-21T10:00:00.098Z\",\"result\":\"delivered\"}]");
    String ended = rows.message("shop", "Flash sale", "Until noon", "{\"kind\":\"all\"}", 24_000);
    dashboard
        .sql()
        .update("UPDATE messages SET expired = 120, cancelled = 480 WHERE id = ?", ended);
    rows.delivery(
        "shop",
        ended,
        "galaxy-long-gone",
        "expired",
        "[{\"channel\":\"mqtt\",\"at\":\"2026-11-21T10:00:00.120Z\",\"result\":\"expired\"}]");
    String channel = "channel-01a1fc9a-a1eb-76b5-9f6e-4fed5846eeaf";
    String goal = rows.messageOverChannel("shop", channel, "Goal", "One to nil");
    String[][] pages = {
      {"overview", "/"},
      {"overview-day", "/?span=day"},
      {"messages", "/messages"},
      {"message", "/messages/" + message},
      {"message-over-channel", "/messages/" + goal},
      {"devices", "/devices?app=shop"},
      {"device", "/devices/shop/iphone-4711"},
      {"device-gone", "/devices/shop/galaxy-long-gone"},
      {"messages-nothing-found", "/messages?app=shop&id=0199"},
      {"apps", "/apps"},
      {"keys", "/apps/shop/keys"},
      {"credentials", "/apps/shop/credentials"},
      {"nodes", "/nodes"},
      {"drain", "/nodes/cm-seoul-1/drain"},
      {"dead-letters", "/dead-letters"},
      {"test-push", "/test-push"},
      {"encryption", "/encryption"},
      {"audit", "/audit"},
      {"operators", "/operators"},
      {"account", "/account"},
      {"404", "/nowhere"},
    };
    try (FakeNode up = new FakeNode(dashboard, "cm-seoul-1");
        FakeNode leaving = new FakeNode(dashboard, "cm-seoul-2.a-rather-long-name-of-a-machine");
        FakeNode silent = new FakeNode(dashboard, "cm-seoul-3");
        Chromium chromium = Chromium.open(dashboard.address())) {
      assertThat(up.orders).isEmpty();
      leaving.state("MOVING");
      silent.silent();
      chromium.go("/login").picture("login-light");
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
      assertThat(chromium.path()).startsWith("/");

      chromium.go("/messages/" + goal);
      assertThat(chromium.text())
          .contains(channel)
          .contains("by APNs")
          .doesNotContain("\"kind\"")
          .doesNotContain("MQTT");
      assertThat(chromium.script("return document.querySelectorAll('.delivery .bar a').length"))
          .as("links to a device that is none")
          .isEqualTo(0L);

      for (String scheme : new String[] {"light", "dark"}) {
        chromium.scheme(scheme);
        for (String[] page : pages) {
          look(chromium, page, scheme);
        }
      }
    }
  }

  private static void look(Chromium chromium, String[] page, String scheme) {
    chromium.size(1280, 900).go(page[1]);
    if (page[1].startsWith("/?") || page[1].equals("/")) {
      chromium.waitFor("#charts[data-drawn]");
    }
    PageWidth.holds(chromium, page[1]);
    chromium.picture(page[0] + "-" + scheme);
    chromium.size(1024, 768).go(page[1]);
    PageWidth.holds(chromium, page[1]);
    assertEachRowOfTilesIsFull(chromium, page[1]);
    assertNothingIsInPieces(chromium, page[1]);
    chromium.size(390, 844).go(page[1]);
    if (page[1].startsWith("/?") || page[1].equals("/")) {
      chromium.waitFor("#charts[data-drawn]");
    }
    PageWidth.holds(chromium, page[1]);
    assertEachRowOfTilesIsFull(chromium, page[1]);
    chromium.picture(page[0] + "-phone-" + scheme);
    assertThat(chromium.complaints())
        .as("the browser's console on " + page[1])
        .filteredOn(line -> !page[0].equals("404"))
        .isEmpty();
  }

  private static void assertEachRowOfTilesIsFull(Chromium chromium, String page) {
    assertThat(
            chromium.script(
                """
                return [...document.querySelectorAll('.tiles')].flatMap(tiles => {
                  const ends = new Map();
                  for (const tile of tiles.children) {
                    const place = tile.getBoundingClientRect();
                    ends.set(place.top, Math.max(ends.get(place.top) ?? 0, place.right));
                  }
                  const edge = tiles.getBoundingClientRect().right;
                  return [...ends.values()].filter(end => end < edge - 1);
                });
                """))
        .as("rows with a gap at their end on " + page)
        .isEqualTo(List.of());
  }

  private static void assertNothingIsInPieces(Chromium chromium, String page) {
    assertThat(
            chromium.script(
                """
                const broken = [...document.querySelectorAll('td .name')]
                  .filter(one => /^\\w{1,10}$/.test(one.textContent) && one.offsetHeight > 30);
                const cut = [...document.querySelectorAll('.scroll:has(.queue)')]
                  .filter(one => one.scrollWidth > one.clientWidth);
                return [...broken, ...cut].map(one => one.textContent.slice(0, 40));
                """))
        .as("names over several lines and queues beyond the edge on " + page)
        .isEqualTo(List.of());
  }
}
