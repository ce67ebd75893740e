package io.pushplanet.load.audit;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.pushplanet.common.device.DeviceId;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class LedgerReaderTest {
  private static final String FIRST_PAGE =
      """
      {"seq":1,"provider":"apns","token":"aa","id":"x","status":200,"delivered":true,"payload":{"aps":{"alert":{}},"data":{"ref":"r1"}}}
      {"seq":2,"provider":"apns","token":"aa","id":"x","status":503,"delivered":false,"payload":{"data":{"ref":"r1"}}}
      """;
  private static final String SECOND_PAGE =
      """
      {"seq":3,"provider":"fcm","token":"bb","id":"y","status":0,"delivered":true,"payload":{"message":{"data":{"ref":"r2"}}}}
      {"seq":4,"provider":"apns","token":"aa","id":"x","status":200,"delivered":true,"payload":{"ref":"r1"}}
      {"seq":5,"provider":"fcm","token":"somebody","id":"z","status":200,"delivered":true,"payload":{"ref":"r1"}}
      """;

  @Test
  void only_deliveries_to_our_devices_count_of_all_pages() throws IOException {
    try (Served ledger = Served.pages(FIRST_PAGE, SECOND_PAGE)) {
      Map<Reception, Integer> seen =
          new LedgerReader(ledger.url())
              .read(
                  Map.of("aa", new DeviceId("iphone"), "bb", new DeviceId("android")),
                  Map.of("r1", "m1"));

      assertThat(seen)
          .containsOnly(
              Map.entry(new Reception("m1", new DeviceId("iphone")), 2),
              Map.entry(new Reception("r2", new DeviceId("android")), 1));
    }
  }

  @Test
  void repeated_notifications_are_counted_and_so_are_visible_ones() throws IOException {
    String ledger =
        Stream.of(
                apns(1, "r1", "m1"),
                apns(2, "r1", "m1"),
                apns(3, "r2", "m2"),
                apns(4, "r2", "other"),
                fcm(5, "r3", "m3"),
                fcm(6, "r3", "m3"),
                fcm(7, "r3", "m3"),
                fcm(8, "r4", ""),
                fcm(9, "r4", ""),
                apns(10, "r3", "m3"),
                browser(11, "r5", "m5"),
                browser(12, "r5", "m5"),
                browser(13, "r6", "m6"),
                browser(14, "r6", "other"))
            .collect(Collectors.joining("\n"));

    try (Served served = Served.pages(ledger)) {
      Repeats repeats = Repeats.of(served.url());

      assertThat(repeats).isEqualTo(new Repeats(7, 3));
    }
  }

  private static String apns(int seq, String reference, String collapseId) {
    return "{\"seq\":%d,\"token\":\"aa\",\"delivered\":true,\"headers\":{\"apns-collapse-id\":\"%s\"},\"payload\":{\"ref\":\"%s\"}}"
        .formatted(seq, collapseId, reference);
  }

  private static String browser(int seq, String reference, String topic) {
    return "{\"seq\":%d,\"token\":\"cc\",\"delivered\":true,\"headers\":{\"ttl\":\"60\",\"topic\":\"%s\"},\"payload\":{\"data\":{\"ref\":\"%s\"}}}"
        .formatted(seq, topic, reference);
  }

  private static String fcm(int seq, String reference, String tag) {
    return "{\"seq\":%d,\"token\":\"bb\",\"delivered\":true,\"payload\":{\"message\":{\"data\":{\"ref\":\"%s\"},\"android\":{\"notification\":{\"tag\":\"%s\"}}}}}"
        .formatted(seq, reference, tag);
  }

  /// A ledger that is answered page by page, each up to its last `seq`.
  private record Served(HttpServer server) implements AutoCloseable {
    private static final Pattern SEQ = Pattern.compile("\"seq\":([0-9]+)");

    static Served pages(String... pages) throws IOException {
      Map<String, String> bySince = new HashMap<>();
      String since = "0";
      for (String page : pages) {
        bySince.put("since=" + since, page);
        since = SEQ.matcher(page).results().reduce((_, last) -> last).orElseThrow().group(1);
      }
      HttpServer server =
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      server.createContext(
          "/ledger",
          exchange -> {
            String page = bySince.getOrDefault(exchange.getRequestURI().getQuery(), "");
            byte[] body = page.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
          });
      server.start();
      return new Served(server);
    }

    URI url() {
      return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    @Override
    public void close() {
      server.stop(0);
    }
  }
}
