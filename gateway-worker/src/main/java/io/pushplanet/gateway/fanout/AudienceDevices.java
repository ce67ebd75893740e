package io.pushplanet.gateway.fanout;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.gateway.registration.DeviceRow;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/// Reads the devices of an audience from MySQL by keyset ([AudienceQuery]): each page starts after
/// the last candidate of the one before.
final class AudienceDevices {
  private final JdbcTemplate database;

  AudienceDevices(JdbcTemplate database) {
    this.database = database;
  }

  DevicePage after(AppId app, Audience audience, @Nullable DeviceId after, int pageSize) {
    var query = AudienceQuery.page(app, audience, after == null ? "" : after.value(), pageSize);
    Map<DeviceId, List<DeviceRow>> devices = new LinkedHashMap<>();
    Set<DeviceId> wanted = new HashSet<>();
    Map<DeviceId, String> users = new HashMap<>();
    database.query(
        query.sql(),
        row -> {
          DeviceId device = new DeviceId(row.getString("device_id"));
          DeviceRow one = DeviceRow.of(row);
          devices.computeIfAbsent(device, _ -> new ArrayList<>()).add(one);
          // A topic may still name a device that is deleted.
          if (one.exists() && row.getBoolean("wanted")) {
            wanted.add(device);
          }
          String user = row.getString("user_of");
          if (user != null) {
            users.put(device, user);
          }
        },
        query.arguments().toArray());
    List<Recipient> recipients = new ArrayList<>();
    DeviceId last = null;
    for (Map.Entry<DeviceId, List<DeviceRow>> device : devices.entrySet()) {
      last = device.getKey();
      if (wanted.contains(device.getKey())) {
        Recipient recipient = DeviceRow.recipient(device.getKey(), device.getValue());
        if (audience instanceof Audience.Devices || !recipient.onlyForNamed()) {
          recipients.add(recipient.of(users.get(device.getKey())));
        }
      }
    }
    return new DevicePage(recipients, devices.size() < pageSize ? null : last);
  }
}
