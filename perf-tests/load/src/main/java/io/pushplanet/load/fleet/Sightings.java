package io.pushplanet.load.fleet;

import io.pushplanet.common.device.DeviceId;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/// The messages that each device saw, and how often. Thread-safe.
public final class Sightings implements Arrivals {
  private final Map<DeviceId, Map<String, Integer>> seen = new ConcurrentHashMap<>();
  private final LongAdder repeats = new LongAdder();
  private final LongAdder all = new LongAdder();

  @Override
  public void arrived(DeviceId device, String messageId, long nanos) {
    add(device, messageId, 1);
  }

  private void add(DeviceId device, String messageId, int times) {
    int now =
        seen.computeIfAbsent(device, _ -> new ConcurrentHashMap<>())
            .merge(messageId, times, Integer::sum);
    all.add(times);
    repeats.add(now > times ? times : times - 1);
  }

  /// How often this device saw this message.
  public int times(DeviceId device, String messageId) {
    return seen.getOrDefault(device, Map.of()).getOrDefault(messageId, 0);
  }

  /// Per device: message id -> times.
  public Map<DeviceId, Map<String, Integer>> perDevice() {
    return Map.copyOf(seen);
  }

  /// All messages seen, including repeats.
  public long total() {
    return all.sum();
  }

  public long repeats() {
    return repeats.sum();
  }

  /// Writes `device<TAB>message<TAB>times` lines, for an audit by another process.
  public void save(Path file) {
    try (BufferedWriter writer = Files.newBufferedWriter(file)) {
      for (var device : seen.entrySet()) {
        for (var message : device.getValue().entrySet()) {
          writer.write(device.getKey().value() + "\t" + message.getKey() + "\t");
          writer.write(message.getValue() + "\n");
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write what the devices saw to " + file, e);
    }
  }

  public static Sightings load(Path file) {
    Sightings sightings = new Sightings();
    try (var lines = Files.lines(file)) {
      lines.forEach(line -> {
        String[] parts = line.split("\t", -1);
        if (parts.length != 3) {
          throw new IllegalArgumentException(file + " holds a line that is no sighting: " + line);
        }
        sightings.add(new DeviceId(parts[0]), parts[1], Integer.parseInt(parts[2]));
      });
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read what the devices saw from " + file, e);
    }
    return sightings;
  }
}
