package io.pushplanet.dispatcher.docs;

import io.pushplanet.dispatcher.problem.ProblemCode;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.springframework.web.util.HtmlUtils;

/// The page that the `type` of each problem refers to.
final class ProblemsPage {
  private static final String PAGE =
      """
      <!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8">
          <meta name="viewport" content="width=device-width, initial-scale=1">
          <title>Push Planet API: problems</title>
          <style>
            :root { color-scheme: light dark }
            body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem }
            section:target { outline: 2px solid; outline-offset: .5rem }
          </style>
        </head>
        <body>
          <h1>Problems</h1>
          <p>Every refusal is <code>application/problem+json</code>
            (<a href="https://www.rfc-editor.org/rfc/rfc9457">RFC 9457</a>). Branch on <code>code</code>; <code>detail</code>
            and <code>errors</code> say what is wrong in this request. <a href="/docs">The whole API</a>.</p>
      %s  </body>
      </html>
      """;
  private static final String PROBLEM =
      """
          <section id="%1$s">
            <h2><code>%1$s</code></h2>
            <p>%2$d: %3$s.</p>
            <p>%4$s</p>
          </section>
      """;

  private ProblemsPage() {}

  static String html() {
    return PAGE.formatted(
        Arrays.stream(ProblemCode.values())
            .map(ProblemsPage::section)
            .collect(Collectors.joining()));
  }

  private static String section(ProblemCode code) {
    return PROBLEM.formatted(
        code.word(),
        code.status(),
        HtmlUtils.htmlEscape(code.title()),
        HtmlUtils.htmlEscape(code.remedy()));
  }
}
