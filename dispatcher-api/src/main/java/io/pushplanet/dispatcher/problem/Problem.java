package io.pushplanet.dispatcher.problem;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.pushplanet.common.wire.WireForm;
import java.util.List;

/// An RFC 9457 problem document (https://www.rfc-editor.org/rfc/rfc9457).
///
/// @param type the address that explains this kind of problem, [ProblemCode#type()]
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record Problem(
    String type,
    String title,
    int status,
    String code,
    String detail,
    String requestId,
    List<FieldError> errors) {
  public static final String MEDIA_TYPE = "application/problem+json";

  public Problem {
    errors = List.copyOf(errors);
  }

  Problem(ProblemCode code, String detail, String requestId, List<FieldError> errors) {
    this(code.type(), code.title(), code.status(), code.word(), detail, requestId, errors);
  }

  byte[] json() {
    return WireForm.write(this);
  }
}
