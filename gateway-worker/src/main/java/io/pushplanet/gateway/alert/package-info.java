/// Tells operators, once, what they must act on: on the dashboard, by a webhook and by mail.
@NullMarked
package io.pushplanet.gateway.alert;

import org.jspecify.annotations.NullMarked;
