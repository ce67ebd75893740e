package io.pushplanet.cm.delivery;

import io.pushplanet.cm.directory.Doubts;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.common.session.DeviceKey;

/// Nobody looks after what gateways are wrong about.
class NoDoubts implements Doubts {
  @Override
  public void doubt(DeviceSession session) {}

  @Override
  public void absent(DeviceKey device, long epoch) {}
}
