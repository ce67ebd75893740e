package io.pushplanet.dispatcher.uplink;

import io.pushplanet.common.access.Scope;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.access.Caller;
import io.pushplanet.dispatcher.access.Needs;
import io.pushplanet.dispatcher.input.Findings;
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

/// What an app's devices published on `push/uplink`, in the order in which it was written down. The app's backend keeps the
/// cursor and asks on from there; an uplink may come twice, with the same `id`.
@RestController
class UplinkController {
  private static final int USUAL = 100;
  private static final int MOST = 1_000;

  private final UplinkMapper mapper;

  UplinkController(UplinkMapper mapper) {
    this.mapper = mapper;
  }

  @GetMapping("/v1/apps/{app}/uplinks")
  @Needs(Scope.READ)
  ResponseEntity<byte[]> uplinks(
      Caller caller,
      @RequestParam(name = "after", required = false) @Nullable String after,
      @RequestParam(name = "limit", required = false) @Nullable String limit) {
    Findings findings = new Findings();
    long last = number("?after", after, 0, Long.MAX_VALUE, findings);
    int most = (int) number("?limit", limit, USUAL, MOST, findings);
    findings.refuse();
    List<UplinkMapper.Row> rows = mapper.after(caller.app().value(), last, most);
    ObjectNode form = WireForm.mapper().createObjectNode();
    ArrayNode data = form.putArray("data");
    rows.forEach(row -> data.add(form(row)));
    form.put("next_cursor", Long.toString(rows.isEmpty() ? last : rows.getLast().id()));
    return ResponseEntity.ok().contentType(MediaType.APPLICATION_JSON).body(WireForm.write(form));
  }

  private static long number(
      String pointer, @Nullable String text, long usual, long most, Findings findings) {
    if (text == null) {
      return usual;
    }
    if (!text.matches("[0-9]{1,18}") || Long.parseLong(text) > most) {
      findings.add(pointer, "out_of_range", "this is a number up to " + most);
      return usual;
    }
    return Long.parseLong(text);
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
    return form;
  }

  /// The payload as text where it is UTF-8.
  private static @Nullable String text(byte[] payload) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(payload)).toString();
    } catch (CharacterCodingException e) {
      return null;
    }
  }
}
