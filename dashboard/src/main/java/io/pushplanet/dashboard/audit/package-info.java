/// Who changed what, and who logged in.
@NullMarked
package io.pushplanet.dashboard.audit;

import org.jspecify.annotations.NullMarked;
