/// OAuth access tokens of credentials that are exchanged for them.
@NullMarked
package io.pushplanet.gateway.oauth;

import org.jspecify.annotations.NullMarked;
