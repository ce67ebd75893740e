/// Tells operators, once, what they must act on: on the dashboard, and by a webhook.
@NullMarked
package io.pushplanet.gateway.alert;

import org.jspecify.annotations.NullMarked;
