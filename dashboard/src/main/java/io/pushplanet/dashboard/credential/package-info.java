/// The credentials by which APNs, FCM, HMS and the push services of browsers know an app: checked,
/// sealed, activated.
@NullMarked
package io.pushplanet.dashboard.credential;

import org.jspecify.annotations.NullMarked;
