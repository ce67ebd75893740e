/// Notifications to the providers: what our senders cost, and what a provider's quota allows.
@NullMarked
package io.pushplanet.load.bench.provider;

import org.jspecify.annotations.NullMarked;
