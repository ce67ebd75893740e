/// Brings a MySQL or MariaDB schema to this version.
@NullMarked
package io.pushplanet.migrations;

import org.jspecify.annotations.NullMarked;
