package io.pushplanet.dispatcher.input;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.Arrays;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/// Refuses query parameters that an operation does not know. If they were ignored, `?limt=5` would
/// give a page of the usual size, and a misspelt `cursor` always the first page. Operations without
/// query parameters ignore the query.
@Configuration(proxyBeanMethods = false)
class QueryConfiguration implements WebMvcConfigurer {
  /// Runs after access control, so that a caller without a key does not learn which parameters
  /// exist.
  private static final int AFTER_ACCESS_CONTROL = 1;

  @Override
  public void addInterceptors(InterceptorRegistry registry) {
    registry
        .addInterceptor(
            new HandlerInterceptor() {
              @Override
              public boolean preHandle(
                  HttpServletRequest request, HttpServletResponse response, Object handler) {
                if (request.getQueryString() != null && handler instanceof HandlerMethod method) {
                  refuseUnknown(request, method);
                }
                return true;
              }
            })
        .order(AFTER_ACCESS_CONTROL);
  }

  private static void refuseUnknown(HttpServletRequest request, HandlerMethod method) {
    Set<String> known =
        Arrays.stream(method.getMethodParameters())
            .map(parameter -> parameter.getParameterAnnotation(RequestParam.class))
            .filter(Objects::nonNull)
            .map(RequestParam::name)
            .collect(Collectors.toCollection(TreeSet::new));
    if (known.isEmpty()) {
      return;
    }
    Findings findings = new Findings();
    request.getParameterMap().keySet().stream()
        .filter(name -> !known.contains(name))
        .sorted()
        .forEach(name ->
            findings.add(
                "?" + name,
                "unknown_parameter",
                "there is no parameter \"" + name + "\" here; known: " + String.join(", ", known)));
    findings.refuse();
  }
}
