package io.pushplanet.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.dispatcher.RunningDispatcher.Answer;
import io.pushplanet.dispatcher.access.Needs;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

class DocsIT {
  private final RunningDispatcher dispatcher = RunningDispatcher.shared();

  @Test
  void the_description_names_exactly_the_operations_that_exist_with_their_scopes() {
    Set<String> real = new TreeSet<>();
    dispatcher
        .context
        .getBean("requestMappingHandlerMapping", RequestMappingHandlerMapping.class)
        .getHandlerMethods()
        .forEach((mapping, handler) -> {
          Needs needs = handler.getMethodAnnotation(Needs.class);
          if (needs != null) {
            mapping
                .getMethodsCondition()
                .getMethods()
                .forEach(method ->
                    mapping
                        .getPatternValues()
                        .forEach(
                            path -> real.add(method + " " + path + " " + needs.value().word())));
          }
        });

    Set<String> told =
        ApiDescription.operations().stream()
            .map(operation ->
                operation.method()
                    + " "
                    + operation.path()
                    + " "
                    + operation.node().get("x-scope").stringValue())
            .collect(Collectors.toCollection(TreeSet::new));

    assertThat(told).isEqualTo(real);
  }

  @Test
  void the_description_is_served_for_programs_and_people() {
    Answer document = dispatcher.call("GET", "/openapi.json", "");
    Answer page = dispatcher.call("GET", "/docs", "");

    assertThat(document.header("Content-Type")).startsWith("application/json");
    assertThat(document.json().get("openapi").stringValue()).isEqualTo("3.1.0");
    assertThat(page.header("Content-Type")).startsWith("text/html");
    assertThat(page.http().body()).doesNotContain("http://", "https://");
    assertThat(dispatcher.call("GET", "/docs/swagger-ui-bundle.js", "").status()).isEqualTo(200);
    assertThat(dispatcher.call("GET", "/docs/swagger-ui.css", "").status()).isEqualTo(200);
    assertThat(dispatcher.call("GET", "/docs/problems", "").http().body())
        .contains("id=\"device_not_found\"")
        .contains("There is no such device");
    assertThat(dispatcher.call("GET", "/docs/other.js", "").status()).isEqualTo(404);
  }
}
