/// Takes messages from the queues and delivers them to APNs, FCM, HMS, browsers and the connection
/// managers.
@NullMarked
package io.pushplanet.gateway;

import org.jspecify.annotations.NullMarked;
