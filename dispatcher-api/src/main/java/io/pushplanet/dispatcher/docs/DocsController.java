package io.pushplanet.dispatcher.docs;

import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.io.IOException;
import java.util.Map;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/// Serves the OpenAPI document, Swagger UI, and the page that the `type` of a problem refers to.
/// All of it comes from this process; the pages load nothing from other hosts.
@RestController
class DocsController {
  private static final String POLICY =
      "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";
  private static final MediaType CSS = MediaType.parseMediaType("text/css;charset=UTF-8");
  private static final MediaType SCRIPT = MediaType.parseMediaType("text/javascript;charset=UTF-8");
  private static final MediaType HTML = MediaType.parseMediaType("text/html;charset=UTF-8");
  private static final String UI = "classpath*:META-INF/resources/webjars/swagger-ui/*/";

  private final Resource openApi;
  private final Resource page;
  private final Map<String, Resource> parts;

  DocsController() throws IOException {
    this.openApi = resource("classpath*:docs/openapi.json");
    this.page = resource("classpath*:docs/index.html");
    this.parts =
        Map.of(
            "start.js", resource("classpath*:docs/start.js"),
            "swagger-ui.css", resource(UI + "swagger-ui.css"),
            "swagger-ui-bundle.js", resource(UI + "swagger-ui-bundle.js"));
  }

  @GetMapping("/openapi.json")
  ResponseEntity<Resource> openApi() {
    return ResponseEntity.ok().contentType(MediaType.APPLICATION_JSON).body(openApi);
  }

  @GetMapping({"/docs", "/docs/"})
  ResponseEntity<Resource> page() {
    return ResponseEntity.ok()
        .contentType(HTML)
        .header("Content-Security-Policy", POLICY)
        .body(page);
  }

  @GetMapping("/docs/problems")
  ResponseEntity<String> problems() {
    return ResponseEntity.ok()
        .contentType(HTML)
        .header("Content-Security-Policy", POLICY)
        .body(ProblemsPage.html());
  }

  @GetMapping("/docs/{part}")
  ResponseEntity<Resource> part(@PathVariable("part") String name) {
    Resource part = parts.get(name);
    if (part == null) {
      throw ProblemException.of(ProblemCode.NOT_FOUND, "There is nothing at /docs/" + name + ".");
    }
    return ResponseEntity.ok().contentType(name.endsWith(".css") ? CSS : SCRIPT).body(part);
  }

  private static Resource resource(String pattern) throws IOException {
    Resource[] found = new PathMatchingResourcePatternResolver().getResources(pattern);
    if (found.length != 1) {
      throw new IllegalStateException(pattern + " is not in this program");
    }
    return found[0];
  }
}
