package io.pushplanet.quickstart.command;

import io.pushplanet.quickstart.platform.Addresses;
import io.pushplanet.quickstart.platform.Rest;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// `./pushplanet send`: one message through the REST API.
final class Send {
  private static final JsonMapper JSON = JsonMapper.shared();
  static final Options.Names OPTIONS =
      new Options.Names(
          Set.of(),
          Set.of(
              "--state",
              "--app",
              "--device",
              "--title",
              "--body",
              "--route",
              "--ttl",
              "--collapse-key",
              "--priority"),
          Set.of("--data"));

  private Send() {}

  static ExitCode run(Path root, List<String> arguments) {
    Options options = Options.parse(arguments, OPTIONS);
    ObjectNode message = message(options);
    Addresses addresses = PushPlanet.addresses(root, PushPlanet.state(root, options));
    try (var api = new Rest(addresses.dispatcherUrl(), addresses.apiKey())) {
      JsonNode answer =
          api.post(
              "/v1/apps/" + options.value("--app").orElse(addresses.app()) + "/messages", message);
      System.out.println(answer.toPrettyString());
    }
    return ExitCode.OK;
  }

  static ObjectNode message(Options options) {
    ObjectNode message = JSON.createObjectNode();
    message.putObject("audience").put("device", options.required("--device"));
    ObjectNode content = message.putObject("content");
    options.value("--title").ifPresent(title -> content.put("title", title));
    options.value("--body").ifPresent(body -> content.put("body", body));
    options.pairs("--data").forEach((key, value) -> content.withObject("/data").put(key, value));
    ObjectNode delivery = JSON.createObjectNode();
    options.value("--route").ifPresent(route -> delivery.put("route", route));
    options.value("--ttl").ifPresent(ttl -> delivery.put("ttl", ttl));
    options.value("--priority").ifPresent(priority -> delivery.put("priority", priority));
    options.value("--collapse-key").ifPresent(key -> delivery.put("collapse_key", key));
    if (!delivery.isEmpty()) {
      message.set("delivery", delivery);
    }
    return message;
  }
}
