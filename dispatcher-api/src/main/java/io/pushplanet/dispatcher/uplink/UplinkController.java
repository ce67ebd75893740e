package io.pushplanet.dispatcher.uplink;

import io.pushplanet.common.access.Scope;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.access.Caller;
import io.pushplanet.dispatcher.access.Needs;
import io.pushplanet.dispatcher.input.Findings;
import io.pushplanet.dispatcher.limit.AppBulkheads;
import io.pushplanet.dispatcher.message.Page;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// The messages that the devices of an app published on `push/uplink`, in the order in which they
/// were written. The app's backend keeps the cursor, which is never null, and continues from there.
/// An uplink may come twice, with the same `id`.
@RestController
class UplinkController {
  /// A page ends when it is so long, because an uplink may take 40 KB of it.
  private static final int PAGE_BYTES = 1024 * 1024;

  /// How many rows are read at once.
  private static final int AT_ONCE = 100;

  private final UplinkMapper mapper;
  private final AppBulkheads reads;

  UplinkController(UplinkMapper mapper, AppBulkheads reads) {
    this.mapper = mapper;
    this.reads = reads;
  }

  @GetMapping("/v1/apps/{app}/uplinks")
  @Needs(Scope.READ)
  ResponseEntity<byte[]> uplinks(
      Caller caller,
      @RequestParam(name = "cursor", required = false) @Nullable String cursor,
      @RequestParam(name = "after", required = false) @Nullable String after,
      @RequestParam(name = "limit", required = false) @Nullable String limit) {
    Findings findings = new Findings();
    if (cursor != null && after != null) {
      findings.add("?after", "ambiguous", "this is another name of cursor: give one of them");
    }
    long last = cursor != null ? position("?cursor", cursor, findings) : 0;
    if (after != null) {
      last = position("?after", after, findings);
    }
    int most = Page.limit(limit, findings);
    findings.refuse();
    return ResponseEntity.ok()
        .contentType(MediaType.APPLICATION_JSON)
        .body(WireForm.write(page(caller.app(), last, most)));
  }

  private ObjectNode page(AppId app, long after, int most) {
    ObjectNode form = WireForm.mapper().createObjectNode();
    ArrayNode data = form.putArray("data");
    long last = after;
    int bytes = 0;
    int asked;
    List<UplinkMapper.Row> rows;
    do {
      asked = Math.min(AT_ONCE, most - data.size());
      rows = after(app, last, asked);
      for (UplinkMapper.Row row : rows) {
        if (bytes >= PAGE_BYTES) {
          break;
        }
        ObjectNode one = form(row);
        data.add(one);
        bytes += WireForm.write(one).length;
        last = row.id();
      }
    } while (rows.size() == asked && data.size() < most && bytes < PAGE_BYTES);
    form.put("next_cursor", Long.toString(last));
    return form;
  }

  private List<UplinkMapper.Row> after(AppId app, long last, int limit) {
    return reads.call(app, 1, () -> mapper.after(app.value(), last, limit));
  }

  private static long position(String pointer, String cursor, Findings findings) {
    if (cursor.isEmpty()) {
      return 0;
    }
    if (!cursor.matches("[0-9]{1,18}")) {
      findings.add(pointer, "not_a_cursor", "take it from next_cursor of the answer before");
      return 0;
    }
    return Long.parseLong(cursor);
  }

  private static ObjectNode form(UplinkMapper.Row row) {
    ObjectNode form = WireForm.mapper().createObjectNode();
    form.put("id", row.eventId());
    form.put("device", row.deviceId());
    form.put("at", row.at().toString());
    form.put("payload", row.payload());
    String text = text(row.payload());
    if (text != null) {
      form.put("text", text);
    }
    if (row.userProperties() instanceof String pairs) {
      form.set("user_properties", WireForm.mapper().readTree(pairs));
    }
    return form;
  }

  /// The payload as text if it is UTF-8.
  private static @Nullable String text(byte[] payload) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(payload)).toString();
    } catch (CharacterCodingException e) {
      return null;
    }
  }
}
