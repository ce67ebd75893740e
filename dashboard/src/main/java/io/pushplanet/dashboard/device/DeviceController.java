package io.pushplanet.dashboard.device;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.dashboard.app.AppChoice;
import io.pushplanet.dashboard.app.Apps;
import io.pushplanet.dashboard.delivery.Deliveries;
import io.pushplanet.dashboard.delivery.DeliveryRow;
import io.pushplanet.dashboard.node.Nodes;
import io.pushplanet.dashboard.page.Missing;
import io.pushplanet.dashboard.page.Slice;
import jakarta.servlet.http.HttpServletResponse;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.util.UriComponentsBuilder;

@Controller
class DeviceController {
  private static final int PAGE = 50;

  private final DeviceMapper devices;
  private final Deliveries deliveries;
  private final Apps apps;
  private final Nodes nodes;

  DeviceController(DeviceMapper devices, Deliveries deliveries, Apps apps, Nodes nodes) {
    this.devices = devices;
    this.deliveries = deliveries;
    this.apps = apps;
    this.nodes = nodes;
  }

  /// One device by its id, the devices of a user, or all of an app in the order of their ids. Where
  /// a device has the id of a user, it is listed before the user's devices.
  @GetMapping("/devices")
  String look(
      @RequestParam(defaultValue = "") String app,
      @RequestParam(defaultValue = "") String find,
      @RequestParam(defaultValue = "") String after,
      Model model,
      HttpServletResponse answer) {
    String wanted = find.strip();
    AppChoice choice = apps.choice(app);
    model.addAttribute("apps", choice);
    model.addAttribute("app", choice.id());
    model.addAttribute("find", wanted);
    String from = DeviceId.isValid(after) ? after : "";
    model.addAttribute("after", from);
    if (choice.unknown()) {
      answer.setStatus(HttpServletResponse.SC_NOT_FOUND);
      model.addAttribute("problem", choice.problem());
    }
    if (choice.chosen().isEmpty()) {
      return "devices";
    }
    AppId id = choice.chosen().get().id();
    if (wanted.isEmpty()) {
      model.addAttribute(
          "devices",
          Slice.of(devices.after(id, from, PAGE + 1), PAGE, row -> row.deviceId().value()));
      return "devices";
    }
    List<DeviceRow> named =
        from.isEmpty() && DeviceId.isValid(wanted)
            ? devices.find(id, new DeviceId(wanted)).stream().toList()
            : List.of();
    List<DeviceRow> ofUser = devices.ofUser(id, wanted, from, PAGE + 1);
    if (!named.isEmpty() && named.containsAll(ofUser)) {
      return "redirect:"
          + UriComponentsBuilder.fromPath("/devices/{app}/{device}")
              .encode()
              .buildAndExpand(id.value(), wanted)
              .toUriString();
    }
    Slice<DeviceRow> page = Slice.of(ofUser, PAGE, row -> row.deviceId().value());
    List<DeviceRow> both = Stream.concat(named.stream(), page.rows().stream()).distinct().toList();
    model.addAttribute("devices", new Slice<>(both, page.next()));
    return "devices";
  }

  /// For a device that is no longer registered, the messages that it was sent.
  @GetMapping("/devices/{app}/{device}")
  String device(
      @PathVariable String app,
      @PathVariable String device,
      @RequestParam(defaultValue = "") String before,
      Model model) {
    if (!AppId.isValid(app) || !DeviceId.isValid(device)) {
      throw new Missing("no device " + device);
    }
    AppId appId = new AppId(app);
    DeviceId deviceId = new DeviceId(device);
    boolean first = !MessageId.isValid(before);
    Optional<DeviceRow> found = devices.find(appId, deviceId);
    Slice<DeliveryRow> sent = deliveries.of(appId, deviceId, first ? "~" : before);
    if (found.isEmpty() && sent.rows().isEmpty()) {
      throw new Missing("no device " + device);
    }
    model.addAttribute("app", app);
    model.addAttribute("id", device);
    model.addAttribute("device", found.orElse(null));
    if (found.isPresent() && found.get().mqtt()) {
      model.addAttribute(
          "connection", Connection.of(nodes.whereabouts(new DeviceKey(appId, deviceId))));
    }
    model.addAttribute("tokens", devices.tokens(appId, deviceId));
    model.addAttribute("topics", devices.topics(appId, deviceId));
    model.addAttribute("tags", devices.tags(appId, deviceId));
    model.addAttribute("first", first);
    model.addAttribute("deliveries", sent);
    return "device";
  }
}
