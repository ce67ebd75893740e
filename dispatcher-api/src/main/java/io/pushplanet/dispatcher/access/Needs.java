package io.pushplanet.dispatcher.access;

import io.pushplanet.common.access.Scope;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// The scope that a key must have for this operation. Every operation under `/v1/apps/{app}` has
/// one.
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Needs {
  Scope value();
}
