/// Messages: ids, content, and how to deliver them.
@NullMarked
package io.pushplanet.common.message;

import org.jspecify.annotations.NullMarked;
