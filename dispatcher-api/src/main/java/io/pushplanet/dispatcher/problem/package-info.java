/// How every refusal is told: RFC 9457 problem documents.
@NullMarked
package io.pushplanet.dispatcher.problem;

import org.jspecify.annotations.NullMarked;
