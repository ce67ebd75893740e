/// Operators, their roles, and how they get in.
@NullMarked
package io.pushplanet.dashboard.login;

import org.jspecify.annotations.NullMarked;
