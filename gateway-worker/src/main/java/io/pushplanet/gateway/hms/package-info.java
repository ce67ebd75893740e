/// Huawei's Push Kit, REST v1.
@NullMarked
package io.pushplanet.gateway.hms;

import org.jspecify.annotations.NullMarked;
