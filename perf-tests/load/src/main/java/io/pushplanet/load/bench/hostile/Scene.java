package io.pushplanet.load.bench.hostile;

import io.pushplanet.load.bench.Findings;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.crowd.AttackProcess;
import io.pushplanet.load.node.ConnectionManager;
import java.time.Duration;

/// The processes of a run, and what is found out about them.
///
/// @param node under attack, which serves the neighbours
/// @param beside a second node, which does not
/// @param warmUp how long each attack goes on before it counts
record Scene(
    Run run,
    Findings findings,
    ConnectionManager node,
    ConnectionManager beside,
    AttackProcess attackers,
    NeighbourWatch neighbours,
    Duration warmUp) {}
