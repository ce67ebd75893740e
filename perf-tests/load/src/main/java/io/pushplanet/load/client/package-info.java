/// A lean HTTP/1.1 client that records the accepted messages.
@NullMarked
package io.pushplanet.load.client;

import org.jspecify.annotations.NullMarked;
