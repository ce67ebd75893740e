/// What all nodes know together of who has which device, told by this one and learned from the others. See RATIONALE.md beside it.
@NullMarked
package io.pushplanet.cm.directory;

import org.jspecify.annotations.NullMarked;
