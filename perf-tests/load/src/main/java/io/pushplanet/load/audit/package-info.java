/// The account: what was accepted against what MySQL, the API, devices and providers say.
@NullMarked
package io.pushplanet.load.audit;

import org.jspecify.annotations.NullMarked;
