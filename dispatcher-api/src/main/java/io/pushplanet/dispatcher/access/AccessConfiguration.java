package io.pushplanet.dispatcher.access;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.MethodParameter;
import org.springframework.web.bind.support.WebDataBinderFactory;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.method.support.HandlerMethodArgumentResolver;
import org.springframework.web.method.support.ModelAndViewContainer;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/// Puts access control before every operation that [Needs] a scope, before a byte of the body is
/// read.
@Configuration(proxyBeanMethods = false)
class AccessConfiguration implements WebMvcConfigurer {
  private static final String CALLER = Caller.class.getName();

  private final AccessControl access;

  AccessConfiguration(AccessControl access) {
    this.access = access;
  }

  @Override
  public void addInterceptors(InterceptorRegistry registry) {
    registry.addInterceptor(
        new HandlerInterceptor() {
          @Override
          public boolean preHandle(
              HttpServletRequest request, HttpServletResponse response, Object handler) {
            if (handler instanceof HandlerMethod method) {
              Needs needs = method.getMethodAnnotation(Needs.class);
              if (needs != null) {
                request.setAttribute(
                    CALLER,
                    access.authorize(
                        request.getHeader("Authorization"), app(request), needs.value()));
              }
            }
            return true;
          }
        });
  }

  @Override
  public void addArgumentResolvers(List<HandlerMethodArgumentResolver> resolvers) {
    resolvers.add(
        new HandlerMethodArgumentResolver() {
          @Override
          public boolean supportsParameter(MethodParameter parameter) {
            return parameter.getParameterType() == Caller.class;
          }

          @Override
          public @Nullable Object resolveArgument(
              MethodParameter parameter,
              @Nullable ModelAndViewContainer container,
              NativeWebRequest request,
              @Nullable WebDataBinderFactory binders) {
            Object caller = request.getAttribute(CALLER, RequestAttributes.SCOPE_REQUEST);
            if (caller == null) {
              throw new IllegalStateException("an operation with a Caller lacks @Needs");
            }
            return caller;
          }
        });
  }

  private static String app(HttpServletRequest request) {
    return request.getAttribute(HandlerMapping.URI_TEMPLATE_VARIABLES_ATTRIBUTE)
                instanceof Map<?, ?> variables
            && variables.get("app") instanceof String app
        ? app
        : "";
  }
}
