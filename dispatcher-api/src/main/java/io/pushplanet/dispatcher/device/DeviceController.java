package io.pushplanet.dispatcher.device;

import io.pushplanet.common.access.Scope;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.access.Caller;
import io.pushplanet.dispatcher.access.Needs;
import io.pushplanet.dispatcher.input.Findings;
import io.pushplanet.dispatcher.input.JsonBody;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.net.URI;
import java.util.UUID;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
class DeviceController {
  private final DeviceRegistry registry;
  private final DeviceForm form;

  DeviceController(DeviceRegistry registry, DeviceForm form) {
    this.registry = registry;
    this.form = form;
  }

  @PostMapping("/v1/apps/{app}/devices")
  @Needs(Scope.DEVICES)
  ResponseEntity<byte[]> register(Caller caller, HttpServletRequest request) throws IOException {
    Findings findings = new Findings();
    RegistrationReader reader = new RegistrationReader(JsonBody.read(request).root(), findings);
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
        new RegistrationReader(JsonBody.read(request).root(), new Findings());
    DeviceId given = reader.device();
    if (given != null && !given.equals(device)) {
      reader.wrongDevice("device is " + given + " here but " + device + " in the path");
    }
    return answer(caller, registry.save(caller.app(), device, reader.registration()), false);
  }

  @GetMapping("/v1/apps/{app}/devices/{device}")
  @Needs(Scope.READ)
  ResponseEntity<byte[]> get(Caller caller, @PathVariable("device") String id) {
    DeviceRegistry.Registered device =
        registry.find(caller.app(), known(id)).orElseThrow(() -> unknown(id));
    return json(ResponseEntity.ok(), WireForm.write(form.of(device)));
  }

  private ResponseEntity<byte[]> answer(
      Caller caller, DeviceRegistry.Saved saved, boolean alwaysCreated) {
    ResponseEntity.BodyBuilder answer =
        saved.created() || alwaysCreated
            ? ResponseEntity.created(
                URI.create("/v1/apps/" + caller.app() + "/devices/" + saved.registered().device()))
            : ResponseEntity.ok();
    return json(answer, WireForm.write(form.withLogin(caller.app(), saved.registered())));
  }

  private static ResponseEntity<byte[]> json(ResponseEntity.BodyBuilder answer, byte[] body) {
    return answer.contentType(MediaType.APPLICATION_JSON).body(body);
  }

  private static DeviceId idToPut(String id) {
    if (!DeviceId.isValid(id)) {
      Findings findings = new Findings();
      findings.add(
          "device", "not_a_device_id", "a device id is 1 to 64 letters, digits and . _ : -");
      findings.refuse();
    }
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
