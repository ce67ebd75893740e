package io.pushplanet.load.audit;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.pushplanet.common.device.DeviceId;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
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
  void every_page_is_read_and_only_what_was_delivered_to_our_devices_counts() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/ledger",
        exchange -> {
          String page =
              switch (exchange.getRequestURI().getQuery()) {
                case "since=0" -> FIRST_PAGE;
                case "since=2" -> SECOND_PAGE;
                default -> "";
              };
          byte[] body = page.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, body.length == 0 ? -1 : body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    try {
      URI url = URI.create("http://127.0.0.1:" + server.getAddress().getPort());

      Map<Reception, Integer> seen =
          new LedgerReader(url)
              .read(
                  Map.of("aa", new DeviceId("iphone"), "bb", new DeviceId("android")),
                  Map.of("r1", "m1"));

      assertThat(seen)
          .containsOnly(
              Map.entry(new Reception("m1", new DeviceId("iphone")), 2),
              Map.entry(new Reception("r2", new DeviceId("android")), 1));
    } finally {
      server.stop(0);
    }
  }
}
