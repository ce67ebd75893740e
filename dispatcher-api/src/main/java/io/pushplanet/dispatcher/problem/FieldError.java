package io.pushplanet.dispatcher.problem;

/// One fault in a request.
///
/// @param pointer JSON pointer (RFC 6901) into the body, or into one message of a batch; `""` is
///     the whole body, `?name` a query parameter. `topic`, `tag` and `device` name that part of the
///     path, and a header is given by its name
/// @param code stable, for programs
/// @param detail for people: the fault and its remedy
public record FieldError(String pointer, String code, String detail) {}
