package io.pushplanet.dispatcher.push;

import io.pushplanet.common.access.Scope;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.access.Caller;
import io.pushplanet.dispatcher.access.Needs;
import io.pushplanet.dispatcher.input.JsonBody;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.net.URI;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

/// Where a message comes in. [PushDispatch] takes it from here.
@RestController
class PushController {
  /// https://www.w3.org/TR/trace-context/#traceparent-header
  private static final Pattern TRACEPARENT =
      Pattern.compile("[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}");

  private final PushDispatch dispatch;
  private final MessageIds ids;

  PushController(PushDispatch dispatch, MessageIds ids) {
    this.dispatch = dispatch;
    this.ids = ids;
  }

  @PostMapping("/v1/apps/{app}/messages")
  @Needs(Scope.SEND)
  ResponseEntity<byte[]> send(
      Caller caller,
      HttpServletRequest request,
      @RequestHeader(name = "traceparent", required = false) @Nullable String traceparent)
      throws IOException {
    SendRequest wanted = SendRequestReader.read(JsonBody.read(request).root());
    Receipt receipt = dispatch.send(caller.app(), wanted, ids.next(), sane(traceparent));
    return ResponseEntity.accepted()
        .location(URI.create("/v1/apps/" + caller.app() + "/messages/" + receipt.id()))
        .contentType(MediaType.APPLICATION_JSON)
        .body(WireForm.write(receipt));
  }

  private static @Nullable String sane(@Nullable String traceparent) {
    return traceparent != null && TRACEPARENT.matcher(traceparent).matches() ? traceparent : null;
  }
}
