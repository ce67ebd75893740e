/// Firebase Cloud Messaging, HTTP v1.
@NullMarked
package io.pushplanet.gateway.fcm;

import org.jspecify.annotations.NullMarked;
