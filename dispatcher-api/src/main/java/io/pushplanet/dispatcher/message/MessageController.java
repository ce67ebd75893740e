package io.pushplanet.dispatcher.message;

import io.pushplanet.common.access.Scope;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.access.Caller;
import io.pushplanet.dispatcher.access.Needs;
import io.pushplanet.dispatcher.input.Findings;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.node.ObjectNode;

@RestController
class MessageController {
  private final Messages messages;
  private final Cancellation cancellation;

  MessageController(Messages messages, Cancellation cancellation) {
    this.messages = messages;
    this.cancellation = cancellation;
  }

  @GetMapping("/v1/apps/{app}/messages/{id}")
  @Needs(Scope.READ)
  ResponseEntity<byte[]> message(Caller caller, @PathVariable("id") String id) {
    return ok(messages.message(caller.app(), id(id)));
  }

  @GetMapping("/v1/apps/{app}/messages/{id}/deliveries")
  @Needs(Scope.READ)
  ResponseEntity<byte[]> deliveries(
      Caller caller,
      @PathVariable("id") String id,
      @RequestParam(name = "device", required = false) @Nullable String device,
      @RequestParam(name = "limit", required = false) @Nullable String limit,
      @RequestParam(name = "cursor", required = false) @Nullable String cursor) {
    return ok(
        messages.deliveries(
            caller.app(),
            id(id),
            device == null ? null : asked(device),
            Page.read(limit, cursor, Page.SortedBy.DEVICE)));
  }

  @GetMapping("/v1/apps/{app}/devices/{device}/deliveries")
  @Needs(Scope.READ)
  ResponseEntity<byte[]> deliveriesOf(
      Caller caller,
      @PathVariable("device") String device,
      @RequestParam(name = "limit", required = false) @Nullable String limit,
      @RequestParam(name = "cursor", required = false) @Nullable String cursor) {
    return ok(
        messages.deliveriesOf(
            caller.app(), device(device), Page.read(limit, cursor, Page.SortedBy.MESSAGE)));
  }

  @PostMapping("/v1/apps/{app}/messages/{id}:cancel")
  @Needs(Scope.SEND)
  ResponseEntity<byte[]> cancel(Caller caller, @PathVariable("id") String id) {
    cancellation.cancel(caller.app(), id(id));
    ObjectNode message = messages.message(caller.app(), id(id));
    return ok(caller.mayRead() ? message : message.remove(Messages.TEXTS));
  }

  private static ResponseEntity<byte[]> ok(ObjectNode form) {
    return ResponseEntity.ok().contentType(MediaType.APPLICATION_JSON).body(WireForm.write(form));
  }

  /// An id in capitals is the same id (https://www.rfc-editor.org/rfc/rfc9562#section-4).
  private static MessageId id(String text) {
    String canonical = text.toLowerCase(Locale.ROOT);
    if (!MessageId.isValid(canonical)) {
      throw Messages.unknown(text);
    }
    return new MessageId(canonical);
  }

  private static DeviceId asked(String device) {
    if (!DeviceId.isValid(device)) {
      Findings findings = new Findings();
      findings.add(
          "?device", "not_a_device_id", "a device id is 1 to 64 letters, digits and . _ : -");
      findings.refuse();
    }
    return new DeviceId(device);
  }

  private static DeviceId device(String text) {
    if (!DeviceId.isValid(text)) {
      throw Messages.unknownDevice(text);
    }
    return new DeviceId(text);
  }
}
