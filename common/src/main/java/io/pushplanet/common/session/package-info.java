/// The session directory in Redis, which the nodes rebuild: who owns a device, and what its nodes
/// are told of it.
@NullMarked
package io.pushplanet.common.session;

import org.jspecify.annotations.NullMarked;
