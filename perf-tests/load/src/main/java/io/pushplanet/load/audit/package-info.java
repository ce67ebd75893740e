/// The account: the accepted messages against MySQL, the API, devices and providers.
@NullMarked
package io.pushplanet.load.audit;

import org.jspecify.annotations.NullMarked;
