package io.pushplanet.cm.delivery;

import io.pushplanet.cm.directory.OwnershipDoubts;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.common.session.DeviceKey;

/// Nobody looks after what gateways are wrong about.
class NoOwnershipDoubts implements OwnershipDoubts {
  @Override
  public void doubt(DeviceSession session) {}

  @Override
  public void absent(DeviceKey device, long epoch) {}
}
