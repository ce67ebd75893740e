/// Operators, their roles, and their logins.
@NullMarked
package io.pushplanet.dashboard.login;

import org.jspecify.annotations.NullMarked;
