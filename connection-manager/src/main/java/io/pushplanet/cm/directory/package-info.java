/// The directory of device owners that all nodes share: this node registers its devices there and
/// learns of those of other nodes. See RATIONALE.md beside it.
@NullMarked
package io.pushplanet.cm.directory;

import org.jspecify.annotations.NullMarked;
