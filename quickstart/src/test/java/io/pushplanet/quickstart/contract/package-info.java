/// The contracts of `common` with real servers, tested here because this module can start them.
@NullMarked
package io.pushplanet.quickstart.contract;

import org.jspecify.annotations.NullMarked;
