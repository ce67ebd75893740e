/// Messages from devices: receipts, uplinks, wills.
@NullMarked
package io.pushplanet.cm.uplink;

import org.jspecify.annotations.NullMarked;
