/// What `common` promises of real servers, tried on them here because this is the module that can start them.
@NullMarked
package io.pushplanet.quickstart.contract;

import org.jspecify.annotations.NullMarked;
