/// The apps' credentials at the vendors, loaded and cached. The dashboard writes them.
@NullMarked
package io.pushplanet.gateway.credential;

import org.jspecify.annotations.NullMarked;
