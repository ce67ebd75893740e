package io.pushplanet.dashboard.login;

import io.pushplanet.common.settings.DatabaseAway;
import io.pushplanet.dashboard.audit.AuditAction;
import io.pushplanet.dashboard.audit.AuditLog;
import io.pushplanet.dashboard.login.OperatorAuthentication.TurnedAwayException;
import io.pushplanet.dashboard.page.TextTypeHandler;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Clock;
import org.jspecify.annotations.Nullable;
import org.mybatis.spring.boot.autoconfigure.ConfigurationCustomizer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.security.autoconfigure.actuate.web.servlet.EndpointRequest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.authentication.AuthenticationServiceException;
import org.springframework.security.authentication.LockedException;
import org.springframework.security.authentication.ProviderManager;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.AuthenticationException;
import org.springframework.security.crypto.bcrypt.BCryptPasswordEncoder;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.access.intercept.AuthorizationFilter;
import org.springframework.security.web.csrf.CsrfException;
import org.springframework.security.web.header.writers.ReferrerPolicyHeaderWriter.ReferrerPolicy;

/// The access rules. A page that is not named here needs a login, and every change needs at least
/// the role operator.
@Configuration(proxyBeanMethods = false)
class LoginConfiguration {
  private static final Logger LOG = LoggerFactory.getLogger(LoginConfiguration.class);
  private static final int BCRYPT_STRENGTH = 11;

  private static final String CONTENT_SECURITY_POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
          + " form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

  @Bean
  PasswordEncoder passwordEncoder() {
    return new BCryptPasswordEncoder(BCRYPT_STRENGTH);
  }

  @Bean
  ConfigurationCustomizer rolesAsColumns() {
    return configuration ->
        configuration
            .getTypeHandlerRegistry()
            .register(Role.class, new TextTypeHandler<>(Role::parse, Role::word));
  }

  /// Health and metrics are on the management port, which must not be public.
  @Bean
  @Order(1)
  SecurityFilterChain managementChain(HttpSecurity http) {
    return http.securityMatcher(EndpointRequest.toAnyEndpoint())
        .authorizeHttpRequests(requests -> requests.anyRequest().permitAll())
        .csrf(csrf -> csrf.disable())
        .requestCache(cache -> cache.disable())
        .sessionManagement(
            sessions -> sessions.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
        .build();
  }

  /// Makes the authentication manager itself: the one that Spring Security builds would ask the
  /// provider again after a refusal, and so count each failure twice.
  @Bean
  @Order(2)
  SecurityFilterChain pagesChain(
      HttpSecurity http,
      OperatorAuthentication authentication,
      OperatorMapper operators,
      AuditLog audit,
      Clock clock) {
    return http.authenticationManager(new ProviderManager(authentication))
        .authorizeHttpRequests(requests ->
            requests
                .dispatcherTypeMatchers(DispatcherType.ERROR, DispatcherType.FORWARD)
                .permitAll()
                .requestMatchers("/login", "/assets/**", "/webjars/**", "/favicon.ico")
                .permitAll()
                .requestMatchers(
                    "/audit/**",
                    "/operators/**",
                    "/nodes/*/drain/**",
                    "/encryption/**",
                    "/dead-letters/*",
                    "/apps/*/credentials/*/activate-anyway")
                .hasRole("ADMIN")
                .requestMatchers(HttpMethod.GET, "/test-push/**")
                .hasRole("OPERATOR")
                .requestMatchers(HttpMethod.GET, "/**")
                .hasRole("VIEWER")
                .requestMatchers(HttpMethod.POST, "/account/password")
                .hasRole("VIEWER")
                .requestMatchers(
                    HttpMethod.POST, "/test-push", "/messages/*/cancel", "/apps/*/credentials/**")
                .hasRole("OPERATOR")
                .anyRequest()
                .hasRole("ADMIN"))
        .exceptionHandling(failures ->
            failures
                .authenticationEntryPoint(LoginConfiguration::askToLogIn)
                .accessDeniedHandler(LoginConfiguration::refused))
        .requestCache(cache -> cache.disable())
        .csrf(csrf -> csrf.csrfTokenRepository(new FormTokens()))
        .formLogin(form ->
            form.loginPage("/login")
                .failureHandler(LoginConfiguration::failed)
                .successHandler(LoginConfiguration::loggedIn))
        .logout(logout ->
            logout
                .addLogoutHandler((_, _, who) -> loggedOut(who, audit))
                .logoutSuccessUrl("/login?out"))
        .sessionManagement(sessions -> sessions.sessionFixation(fix -> fix.changeSessionId()))
        .headers(headers ->
            headers
                .contentSecurityPolicy(csp -> csp.policyDirectives(CONTENT_SECURITY_POLICY))
                .referrerPolicy(referrer -> referrer.policy(ReferrerPolicy.SAME_ORIGIN)))
        .addFilterBefore(new SessionStillValid(operators, clock), AuthorizationFilter.class)
        .build();
  }

  /// The token of a form is that of its session. So a form without the right one may be older than
  /// its session, or have outlived it, as forms in other tabs do.
  private static void refused(
      HttpServletRequest request, HttpServletResponse response, AccessDeniedException refusal)
      throws IOException {
    boolean ofAnotherSession = refusal instanceof CsrfException;
    String path = request.getServletPath();
    if (ofAnotherSession && path.equals("/logout")) {
      response.sendRedirect(request.getContextPath() + "/login?out");
    } else if (ofAnotherSession && request.getSession(false) == null) {
      toLogin("ended", request, response);
    } else if (ofAnotherSession && path.equals("/login")) {
      toWantedPage(request, response);
    } else {
      response.sendError(HttpServletResponse.SC_FORBIDDEN);
    }
  }

  /// A part that refreshes itself would show the login page in its place, so it makes the browser
  /// load the whole page again.
  private static void askToLogIn(
      HttpServletRequest request, HttpServletResponse response, AuthenticationException failure)
      throws IOException {
    if (request.getHeader("HX-Request") != null) {
      response.setHeader("HX-Refresh", "true");
      response.setStatus(HttpServletResponse.SC_UNAUTHORIZED);
      return;
    }
    if (HttpMethod.POST.matches(request.getMethod())) {
      toLogin("ended", request, response);
      return;
    }
    String wanted = WantedPage.of(request).map(page -> "?" + page.parameter()).orElse("");
    response.sendRedirect(request.getContextPath() + "/login" + wanted);
  }

  private static void loggedIn(
      HttpServletRequest request, HttpServletResponse response, Authentication who)
      throws IOException {
    toWantedPage(request, response);
  }

  private static void toWantedPage(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    String page = WantedPage.toldTo(request).map(WantedPage::path).orElse("/");
    response.sendRedirect(request.getContextPath() + page);
  }

  /// A session ends even while no entry can be written.
  private static void loggedOut(@Nullable Authentication who, AuditLog audit) {
    if (who == null) {
      return;
    }
    try {
      audit.record(who.getName(), AuditAction.LOGOUT, who.getName(), "logged out");
    } catch (DataAccessException e) {
      LOG.warn("event=logout_not_audited operator={} reason=\"{}\"", who.getName(), e.toString());
    }
  }

  private static void failed(
      HttpServletRequest request, HttpServletResponse response, AuthenticationException failure)
      throws IOException {
    if (failure instanceof TurnedAwayException) {
      response.setHeader("Retry-After", "5");
      response.sendError(HttpStatus.TOO_MANY_REQUESTS.value());
      return;
    }
    if (failure instanceof AuthenticationServiceException) {
      LOG.warn("event=login_unavailable reason=\"{}\"", failure.toString());
      response.setHeader("Retry-After", "5");
      response.sendError(HttpServletResponse.SC_SERVICE_UNAVAILABLE);
      return;
    }
    String why =
        switch (failure) {
          case LockedException _ -> "locked";
          default -> "failed";
        };
    toLogin(why, request, response);
  }

  /// @param why what the page of the login says
  private static void toLogin(String why, HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    String wanted = WantedPage.toldTo(request).map(page -> "&" + page.parameter()).orElse("");
    response.sendRedirect(request.getContextPath() + "/login?" + why + wanted);
  }

  /// Wraps a failure of the authentication, because Spring Security handles only its own
  /// exceptions.
  static AuthenticationServiceException unavailable(RuntimeException failure) {
    if (!DatabaseAway.isCauseOf(failure)) {
      throw failure;
    }
    return new AuthenticationServiceException("the database is away", failure);
  }
}
