package io.pushplanet.dispatcher.problem;

/// One thing that is wrong in a request.
///
/// @param pointer JSON pointer (RFC 6901) into the body, of a batch into one message; `""` is the whole of it; `?name` a query
/// parameter; a header by its name
/// @param code stable, for programs
/// @param detail for people: what is wrong and what to do
public record FieldError(String pointer, String code, String detail) {}
