package io.pushplanet.common.session;

import io.pushplanet.common.wire.MalformedWire;
import io.pushplanet.common.wire.WireForm;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Reads the leases of nodes. What another version wrote in a form that is not ours, or rubbish, is left out: whoever asks for
/// the nodes still learns of the others. It is warned of once, until it can be read or is gone. Thread-safe.
final class LeaseReader {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseReader.class);

  private final Set<String> unreadable = ConcurrentHashMap.newKeySet();

  /// @param texts every lease that there is, by its node's name
  Map<String, NodeLease> read(Map<String, String> texts) {
    unreadable.retainAll(texts.keySet());
    Map<String, NodeLease> leases = new LinkedHashMap<>();
    texts.forEach((name, text) -> {
      try {
        leases.put(name, WireForm.read(text.getBytes(StandardCharsets.UTF_8), NodeLease.class));
        unreadable.remove(name);
      } catch (MalformedWire | NullPointerException malformed) {
        // A missing field shows as a null where the record wants a value.
        if (unreadable.add(name)) {
          LOG.warn("event=lease_unreadable node={}", name);
        }
      }
    });
    return leases;
  }
}
