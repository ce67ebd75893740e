package io.pushplanet.common.node;

import io.pushplanet.common.wire.MalformedWire;
import io.pushplanet.common.wire.WireForm;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Reads the leases of nodes. A lease that is malformed, or written by another version in a form
/// unknown here, is left out, so that callers still learn of the other nodes. It is logged once,
/// until it becomes readable or goes away. Thread-safe.
public final class LeaseReader {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseReader.class);

  private final Set<String> unreadable = ConcurrentHashMap.newKeySet();

  /// @param texts all leases, by their nodes' names
  public Map<String, NodeLease> read(Map<String, String> texts) {
    unreadable.retainAll(texts.keySet());
    Map<String, NodeLease> leases = new LinkedHashMap<>();
    texts.forEach((name, text) -> {
      try {
        leases.put(name, WireForm.read(text.getBytes(StandardCharsets.UTF_8), NodeLease.class));
        unreadable.remove(name);
      } catch (MalformedWire malformed) {
        if (unreadable.add(name)) {
          LOG.warn("event=lease_unreadable node={}", name);
        }
      }
    });
    return leases;
  }
}
