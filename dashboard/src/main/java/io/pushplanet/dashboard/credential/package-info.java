/// What APNs, FCM and browsers' push services know an app by: checked, sealed, activated.
@NullMarked
package io.pushplanet.dashboard.credential;

import org.jspecify.annotations.NullMarked;
