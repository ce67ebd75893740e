/// The first page: charts, queues, connected devices.
@NullMarked
package io.pushplanet.dashboard.overview;

import org.jspecify.annotations.NullMarked;
