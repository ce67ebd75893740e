package io.pushplanet.common.device;

import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;

/// Devices of one app as one text: their ids in order, separated by blanks, as in
/// `broadcast_devices`.
///
/// @param text of at least one device
public record DeviceList(String text) {
  private static final char BLANK = ' ';

  public static DeviceList of(Collection<DeviceId> devices) {
    if (devices.isEmpty()) {
      throw new IllegalArgumentException("a list of devices has at least one");
    }
    return new DeviceList(
        devices.stream().sorted().distinct().map(DeviceId::value).collect(Collectors.joining(" ")));
  }

  public List<DeviceId> devices() {
    return List.of(text.split(" ")).stream().map(DeviceId::new).toList();
  }

  public DeviceId first() {
    int end = text.indexOf(BLANK);
    return new DeviceId(end < 0 ? text : text.substring(0, end));
  }

  public DeviceId last() {
    return new DeviceId(text.substring(text.lastIndexOf(BLANK) + 1));
  }

  /// A binary search: a list of thousands takes a dozen steps.
  public boolean contains(DeviceId device) {
    int low = 0;
    int high = text.length();
    while (low < high) {
      int middle = (low + high) >>> 1;
      int start = Math.max(low, text.lastIndexOf(BLANK, middle - 1) + 1);
      int found = text.indexOf(BLANK, start);
      int end = found < 0 ? text.length() : found;
      int order = device.value().compareTo(text.substring(start, end));
      if (order == 0) {
        return true;
      }
      if (order < 0) {
        high = start - 1;
      } else {
        low = end + 1;
      }
    }
    return false;
  }
}
