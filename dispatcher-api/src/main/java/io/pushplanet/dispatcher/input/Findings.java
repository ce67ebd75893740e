package io.pushplanet.dispatcher.input;

import io.pushplanet.dispatcher.problem.FieldError;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.util.ArrayList;
import java.util.List;

/// Gathers all faults of one request, so that the caller gets them at once.
public final class Findings {
  private static final int MAX = 50;

  private final List<FieldError> errors = new ArrayList<>();

  public void add(String pointer, String code, String detail) {
    if (errors.size() < MAX) {
      errors.add(new FieldError(pointer, code, detail));
    }
  }

  public boolean any() {
    return !errors.isEmpty();
  }

  /// @throws ProblemException when something is wrong
  public void refuse() {
    if (any()) {
      FieldError first = errors.getFirst();
      String where = first.pointer().isEmpty() ? "the body" : first.pointer();
      throw ProblemException.of(ProblemCode.INVALID_REQUEST, where + ": " + first.detail(), errors);
    }
  }
}
