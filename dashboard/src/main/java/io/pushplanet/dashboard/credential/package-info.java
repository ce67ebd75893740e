/// What APNs and FCM know an app by: checked, sealed, activated.
@NullMarked
package io.pushplanet.dashboard.credential;

import org.jspecify.annotations.NullMarked;
