/// Huawei's Push Kit (REST, v1) with its OAuth endpoint.
@NullMarked
package io.pushplanet.simulators.hms;

import org.jspecify.annotations.NullMarked;
