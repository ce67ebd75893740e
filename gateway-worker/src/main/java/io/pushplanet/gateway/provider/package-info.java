/// The seam between the delivery and the vendors: a message goes out, and its outcome comes back as
/// a value.
@NullMarked
package io.pushplanet.gateway.provider;

import org.jspecify.annotations.NullMarked;
