/// Takes messages from the queues and brings them to APNs, FCM, browsers and the connection managers.
@NullMarked
package io.pushplanet.gateway;

import org.jspecify.annotations.NullMarked;
