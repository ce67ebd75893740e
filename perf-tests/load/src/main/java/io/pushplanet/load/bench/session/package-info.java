/// Sessions at nodes: their cost, their return all at once, a message to all of them.
@NullMarked
package io.pushplanet.load.bench.session;

import org.jspecify.annotations.NullMarked;
