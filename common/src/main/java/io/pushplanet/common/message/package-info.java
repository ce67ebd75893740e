/// What an app asks to be told to its devices: ids, content, how it is to be delivered.
@NullMarked
package io.pushplanet.common.message;

import org.jspecify.annotations.NullMarked;
