/// A lean HTTP/1.1 client that writes down what was accepted, and nothing else.
@NullMarked
package io.pushplanet.load.client;

import org.jspecify.annotations.NullMarked;
