/// The description of the API: for programs at `/openapi.json`, for people at `/docs`.
@NullMarked
package io.pushplanet.dispatcher.docs;

import org.jspecify.annotations.NullMarked;
