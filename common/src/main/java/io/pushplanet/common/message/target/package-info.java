/// The addressees of a message: audiences as asked, recipients as resolved.
@NullMarked
package io.pushplanet.common.message.target;

import org.jspecify.annotations.NullMarked;
