package io.pushplanet.dispatcher.device;

import io.pushplanet.common.device.DeviceCredential;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.target.ApnsPushType;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.registration.RegisteredDevice;
import io.pushplanet.dispatcher.registration.Registration;
import io.pushplanet.dispatcher.settings.DispatcherSettings;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import tools.jackson.databind.node.ObjectNode;

/// The form of a device in answers.
@Component
class DeviceForm {
  /// The topic that every device subscribes to. The server knows the device of each connection, so
  /// topics carry no ids.
  private static final String TOPIC = "push/messages";

  private final DispatcherSettings settings;
  private final DeviceCredential credentials;

  DeviceForm(DispatcherSettings settings, DeviceCredential credentials) {
    this.settings = settings;
    this.credentials = credentials;
  }

  /// Without the MQTT login.
  ObjectNode of(RegisteredDevice device) {
    ObjectNode form = WireForm.mapper().createObjectNode();
    form.put("device", device.device().value());
    form.setAll(registration(device.registration()));
    form.put("created_at", device.createdAt().toString());
    form.put("updated_at", device.updatedAt().toString());
    form.put("seen_at", device.seenAt().toString());
    return form;
  }

  /// With the MQTT login of the device, if its MQTT channel is on.
  ObjectNode withLogin(AppId app, DeviceRegistry.Saved saved) {
    RegisteredDevice device = saved.registered();
    ObjectNode form = of(device);
    if (device.registration().channels().mqtt()) {
      ObjectNode mqtt = form.putObject("mqtt");
      mqtt.put("host", settings.mqttHost());
      mqtt.put("port", settings.mqttPort());
      mqtt.put("tls_port", settings.mqttTlsPort());
      mqtt.put("client_id", device.device().value());
      mqtt.put("username", app.value());
      mqtt.put(
          "password",
          credentials.mint(app, device.device(), saved.passwordEnds().getEpochSecond()));
      mqtt.put("topic", TOPIC);
    }
    return form;
  }

  /// The JSON form of a registration.
  static ObjectNode registration(Registration registration) {
    ObjectNode form = WireForm.mapper().createObjectNode();
    form.put("platform", registration.platform().name().toLowerCase(Locale.ROOT));
    ObjectNode channels = form.putObject("channels");
    channels.put("mqtt", registration.channels().mqtt());
    Registration.Token apns = registration.channels().apns();
    if (apns != null) {
      ObjectNode ios = channels.putObject("apns");
      ios.put("token", apns.token()).put("environment", apns.environment());
      if (!apns.kind().equals(ApnsPushType.ALERT.kind())) {
        ios.put("push_type", apns.kind());
      }
    }
    Registration.Token fcm = registration.channels().fcm();
    if (fcm != null) {
      channels.putObject("fcm").put(fcm.kind(), fcm.token());
    }
    Registration.Token hms = registration.channels().hms();
    if (hms != null) {
      channels.putObject("hms").put("token", hms.token());
    }
    Registration.Token webpush = registration.channels().webpush();
    if (webpush != null) {
      channels.set("webpush", WireForm.mapper().readTree(webpush.token()));
    }
    put(form, "user", registration.user());
    put(form, "locale", registration.locale());
    put(form, "timezone", registration.timezone());
    if (registration.tags() != null) {
      form.set("tags", WireForm.mapper().valueToTree(registration.tags()));
    }
    if (registration.topics() != null) {
      form.set("topics", WireForm.mapper().valueToTree(registration.topics()));
    }
    put(form, "app_version", registration.appVersion());
    return form;
  }

  private static void put(ObjectNode form, String name, @Nullable String value) {
    if (value != null) {
      form.put(name, value);
    }
  }
}
