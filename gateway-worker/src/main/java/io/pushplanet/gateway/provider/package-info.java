/// The seam between the delivery story and the vendors: one question, one answer that is a value.
@NullMarked
package io.pushplanet.gateway.provider;

import org.jspecify.annotations.NullMarked;
