/// What an app says about a device, read strictly.
@NullMarked
package io.pushplanet.dispatcher.registration;

import org.jspecify.annotations.NullMarked;
