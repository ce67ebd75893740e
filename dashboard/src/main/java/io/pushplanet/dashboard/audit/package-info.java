/// The audit log: all changes and logins, with their operators.
@NullMarked
package io.pushplanet.dashboard.audit;

import org.jspecify.annotations.NullMarked;
