package io.pushplanet.dispatcher.device;

import io.pushplanet.common.access.Scope;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.access.Caller;
import io.pushplanet.dispatcher.access.Needs;
import io.pushplanet.dispatcher.audience.AudienceReader;
import io.pushplanet.dispatcher.input.Bodies;
import io.pushplanet.dispatcher.input.Fields;
import io.pushplanet.dispatcher.input.Findings;
import io.pushplanet.dispatcher.limit.AppBulkheads;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import io.pushplanet.dispatcher.registration.RegisteredDevice;
import io.pushplanet.dispatcher.registration.Registration;
import io.pushplanet.dispatcher.registration.RegistrationReader;
import io.pushplanet.dispatcher.session.SessionUpdate;
import io.pushplanet.dispatcher.session.SessionUpdates;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.UUID;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PatchMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.node.ObjectNode;

@RestController
class DeviceController {
  private final DeviceRegistry registry;
  private final AppBulkheads reads;
  private final SessionUpdates sessions;
  private final DeviceForm form;
  private final Bodies bodies;

  DeviceController(
      DeviceRegistry registry,
      AppBulkheads reads,
      SessionUpdates sessions,
      DeviceForm form,
      Bodies bodies) {
    this.registry = registry;
    this.reads = reads;
    this.sessions = sessions;
    this.form = form;
    this.bodies = bodies;
  }

  @PostMapping("/v1/apps/{app}/devices")
  @Needs(Scope.DEVICES)
  ResponseEntity<byte[]> register(Caller caller, HttpServletRequest request) throws IOException {
    Findings findings = new Findings();
    RegistrationReader reader =
        new RegistrationReader(bodies.json(caller.app(), request).root(), findings);
    DeviceId given = reader.device();
    Registration registration = reader.registration();
    DeviceId device = given == null ? new DeviceId(UUID.randomUUID().toString()) : given;
    return answer(caller, registry.save(caller.app(), device, registration), true);
  }

  @PutMapping("/v1/apps/{app}/devices/{device}")
  @Needs(Scope.DEVICES)
  ResponseEntity<byte[]> put(
      Caller caller, @PathVariable("device") String id, HttpServletRequest request)
      throws IOException {
    DeviceId device = idToPut(id);
    RegistrationReader reader =
        new RegistrationReader(bodies.json(caller.app(), request).root(), new Findings());
    DeviceId given = reader.device();
    if (given != null && !given.equals(device)) {
      reader.wrongDevice("device is " + given + " here but " + device + " in the path");
    }
    return answer(caller, registry.save(caller.app(), device, reader.registration()), false);
  }

  @GetMapping("/v1/apps/{app}/devices/{device}")
  @Needs(Scope.READ)
  ResponseEntity<byte[]> get(Caller caller, @PathVariable("device") String id) {
    DeviceId given = known(id);
    // Read before the row: an update that is written in between is then in one of the two, or in
    // both.
    var told = sessions.told(caller.app(), given);
    RegisteredDevice device =
        reads
            .call(caller.app(), 1, () -> registry.find(caller.app(), given))
            .map(told::over)
            .orElseThrow(() -> unknown(id));
    return json(ResponseEntity.ok(), WireForm.write(form.of(device)));
  }

  /// A JSON merge patch (RFC 7396) of the registration.
  @PatchMapping("/v1/apps/{app}/devices/{device}")
  @Needs(Scope.DEVICES)
  ResponseEntity<byte[]> patch(
      Caller caller, @PathVariable("device") String id, HttpServletRequest request)
      throws IOException {
    ObjectNode patch = bodies.json(caller.app(), request).root();
    DeviceId device = known(id);
    SessionUpdates.Told told = sessions.told(caller.app(), device);
    DeviceRegistry.Saved saved =
        registry
            .change(
                caller.app(),
                device,
                told.until(),
                before -> patched(told.over(before).registration(), patch))
            .orElseThrow(() -> unknown(id));
    return answer(caller, saved, false);
  }

  private static Registration patched(Registration before, ObjectNode patch) {
    ObjectNode form = DeviceForm.registration(before);
    for (String list : List.of("tags", "topics")) {
      if (!patch.has(list)) {
        // The list stays as it is: earlier versions let a device have more, when they were added
        // one by one.
        form.remove(list);
      }
    }
    ObjectNode merged = RegistrationReader.merged(form, patch);
    return new RegistrationReader(merged, new Findings()).registration();
  }

  @DeleteMapping("/v1/apps/{app}/devices/{device}")
  @Needs(Scope.DEVICES)
  ResponseEntity<byte[]> delete(Caller caller, @PathVariable("device") String id) {
    return noContent(registry.delete(caller.app(), known(id)), id);
  }

  /// Reports that the device is alive; the newest report wins. It is written to Redis at once and
  /// to MySQL soon.
  @PutMapping("/v1/apps/{app}/devices/{device}/session")
  @Needs(Scope.DEVICES)
  ResponseEntity<byte[]> session(
      Caller caller, @PathVariable("device") String id, HttpServletRequest request)
      throws IOException {
    SessionUpdate update = SessionUpdate.read(bodies.optionalJson(caller.app(), request).root());
    return noContent(sessions.update(caller.app(), known(id), update), id);
  }

  @PutMapping("/v1/apps/{app}/devices/{device}/topics/{topic}")
  @Needs(Scope.DEVICES)
  ResponseEntity<byte[]> addTopic(
      Caller caller, @PathVariable("device") String id, @PathVariable("topic") String topic) {
    requireTopic(topic);
    return noContent(registry.addTopic(caller.app(), known(id), topic), id);
  }

  @DeleteMapping("/v1/apps/{app}/devices/{device}/topics/{topic}")
  @Needs(Scope.DEVICES)
  ResponseEntity<byte[]> removeTopic(
      Caller caller, @PathVariable("device") String id, @PathVariable("topic") String topic) {
    requireTopic(topic);
    return noContent(registry.removeTopic(caller.app(), known(id), topic), id);
  }

  @PutMapping("/v1/apps/{app}/devices/{device}/tags/{tag}")
  @Needs(Scope.DEVICES)
  ResponseEntity<byte[]> addTag(
      Caller caller, @PathVariable("device") String id, @PathVariable("tag") String tag) {
    requireTag(tag);
    return noContent(registry.addTag(caller.app(), known(id), tag), id);
  }

  @DeleteMapping("/v1/apps/{app}/devices/{device}/tags/{tag}")
  @Needs(Scope.DEVICES)
  ResponseEntity<byte[]> removeTag(
      Caller caller, @PathVariable("device") String id, @PathVariable("tag") String tag) {
    requireTag(tag);
    return noContent(registry.removeTag(caller.app(), known(id), tag), id);
  }

  private static void requireTopic(String topic) {
    Findings findings = new Findings();
    AudienceReader.isTopic(findings, "topic", topic);
    findings.refuse();
  }

  private static void requireTag(String tag) {
    if (Fields.length(tag) > AudienceReader.LONGEST_TAG) {
      refuse("tag", "too_long", "a tag has at most " + AudienceReader.LONGEST_TAG + " characters");
    }
    if (Fields.endsInBlank(tag)) {
      refuse("tag", "ends_in_blank", "a tag does not end in a blank");
    }
  }

  private static ResponseEntity<byte[]> noContent(boolean known, String id) {
    if (!known) {
      throw unknown(id);
    }
    return ResponseEntity.noContent().build();
  }

  private static void refuse(String pointer, String code, String detail) {
    Findings findings = new Findings();
    findings.add(pointer, code, detail);
    findings.refuse();
  }

  private ResponseEntity<byte[]> answer(
      Caller caller, DeviceRegistry.Saved saved, boolean alwaysCreated) {
    ResponseEntity.BodyBuilder answer =
        saved.created() || alwaysCreated
            ? ResponseEntity.created(
                URI.create("/v1/apps/" + caller.app() + "/devices/" + saved.registered().device()))
            : ResponseEntity.ok();
    return json(answer, WireForm.write(form.withLogin(caller.app(), saved)));
  }

  private static ResponseEntity<byte[]> json(ResponseEntity.BodyBuilder answer, byte[] body) {
    return answer.contentType(MediaType.APPLICATION_JSON).body(body);
  }

  private static DeviceId idToPut(String id) {
    Findings findings = new Findings();
    AudienceReader.isDeviceId(findings, "device", id);
    findings.refuse();
    return new DeviceId(id);
  }

  private static DeviceId known(String id) {
    if (!DeviceId.isValid(id)) {
      throw unknown(id);
    }
    return new DeviceId(id);
  }

  private static ProblemException unknown(String id) {
    return ProblemException.of(
        ProblemCode.DEVICE_NOT_FOUND, "There is no device \"" + id + "\" in this app.");
  }
}
