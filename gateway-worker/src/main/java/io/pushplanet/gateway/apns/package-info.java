/// Apple Push Notification service.
@NullMarked
package io.pushplanet.gateway.apns;

import org.jspecify.annotations.NullMarked;
