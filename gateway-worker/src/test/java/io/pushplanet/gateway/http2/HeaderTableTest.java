package io.pushplanet.gateway.http2;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.pushplanet.common.message.Priority;
import io.pushplanet.gateway.connection.ProviderRequest;
import io.pushplanet.gateway.connection.ProviderRequest.Field;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class HeaderTableTest {
  private static final int LITERAL_WITHOUT_INDEXING_OF_PATH = 0x04;
  private static final int NEVER_INDEXED_AUTHORIZATION = 0x1f;

  private final HeaderTable table = new HeaderTable();
  private final DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder(false, 1 << 20);

  @Test
  void a_peer_reads_what_was_written() throws Exception {
    ProviderRequest request = request("/3/device/aa", Field.of("apns-topic", "com.example"));

    Http2Headers read = decoder.decodeHeaders(1, written(request));

    assertThat(read.method()).hasToString("POST");
    assertThat(read.scheme()).hasToString("https");
    assertThat(read.path()).hasToString("/3/device/aa");
    assertThat(read.authority()).hasToString("api.push.apple.com:443");
    assertThat(read.get("apns-topic")).hasToString("com.example");
    assertThat(read.get("content-type")).hasToString("application/json");
    assertThat(read.get("content-length")).hasToString("2");
    assertThat(read.get("user-agent")).hasToString("push-planet");
  }

  @Test
  void the_path_and_secrets_never_enter_the_table() throws Exception {
    ProviderRequest request = request("/3/device/aa", Field.secret("authorization", "bearer x"));
    byte[] first = bytes(written(request));
    byte[] second = bytes(written(request));

    assertThat(first[2]).isEqualTo((byte) LITERAL_WITHOUT_INDEXING_OF_PATH);
    assertThat(second[2]).isEqualTo((byte) LITERAL_WITHOUT_INDEXING_OF_PATH);
    for (byte[] block : List.of(first, second)) {
      String text = new String(block, StandardCharsets.ISO_8859_1);
      int value = text.indexOf("bearer x");
      // The name is entry 23 of the static table: 15 in the prefix and 8 more; then the value's
      // length.
      assertThat(block[value - 3]).isEqualTo((byte) NEVER_INDEXED_AUTHORIZATION);
      assertThat(block[value - 2]).isEqualTo((byte) 8);
    }
  }

  @Test
  void a_repeated_field_takes_a_byte_and_a_changing_one_keeps_its_name() throws Exception {
    written(request("/3/device/aa", topic(), Field.of("apns-id", "11111111")));

    String second =
        text(written(request("/3/device/bb", topic(), Field.of("apns-id", "22222222"))));
    String third = text(written(request("/3/device/cc", topic(), Field.of("apns-id", "33333333"))));

    assertThat(second).contains("22222222").doesNotContain("apns-id", "com.example", "push-planet");
    assertThat(third).hasSameSizeAs(second);
  }

  @Test
  void a_peer_may_change_the_size_of_its_table_at_any_time() throws Exception {
    Random random = new Random(7);
    for (int i = 0; i < 5_000; i++) {
      if (random.nextInt(20) == 0) {
        for (int change = random.nextInt(3); change >= 0; change--) {
          long size = random.nextInt(5) == 0 ? 0xffff_ffffL : random.nextInt(1_000);
          table.peerKeeps(size);
          decoder.maxHeaderTableSize(size);
        }
      }
      List<Field> fields = new ArrayList<>();
      for (int field = random.nextInt(8); field >= 0; field--) {
        String value = "v".repeat(random.nextInt(200)) + random.nextInt(30);
        fields.add(new Field("x-" + random.nextInt(12), value, random.nextInt(4) == 0));
      }
      fields.add(Field.of("apns-id", Integer.toString(i)));
      ProviderRequest request = request("/" + i, fields.toArray(Field[]::new));

      Http2Headers read = decoder.decodeHeaders(1, written(request));

      List<String> wanted = fields.stream().map(it -> it.name() + "=" + it.value()).toList();
      List<String> got = new ArrayList<>();
      read.forEach(header -> {
        if (header.getKey().toString().matches("x-.*|apns-id")) {
          got.add(header.getKey() + "=" + header.getValue());
        }
      });
      assertThat(got).isEqualTo(wanted);
      assertThat(read.path()).hasToString("/" + i);
    }
  }

  private static Field topic() {
    return Field.of("apns-topic", "com.example");
  }

  private static ProviderRequest request(String path, Field... fields) {
    return new ProviderRequest(
        Priority.NORMAL, path, List.of(fields), "{}".getBytes(StandardCharsets.US_ASCII), null);
  }

  private ByteBuf written(ProviderRequest request) {
    ByteBuf out = Unpooled.buffer();
    table.write(out, true, "api.push.apple.com:443", request);
    return out;
  }

  private static byte[] bytes(ByteBuf block) throws Http2Exception {
    return ByteBufUtil.getBytes(block);
  }

  private static String text(ByteBuf block) {
    return block.toString(StandardCharsets.ISO_8859_1);
  }
}
