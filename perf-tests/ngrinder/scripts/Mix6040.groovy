// 60 % sends and 40 % session updates: the mix that the figures in docs/performance-engineers.md are about.
//
// Parameters: API address, app, API key, number of devices (see SendMessage.groovy).
import static net.grinder.script.Grinder.grinder
import static org.hamcrest.Matchers.is
import static org.junit.Assert.assertThat

import java.util.concurrent.ThreadLocalRandom
import net.grinder.script.GTest
import net.grinder.scriptengine.groovy.junit.GrinderRunner
import net.grinder.scriptengine.groovy.junit.annotation.BeforeProcess
import net.grinder.scriptengine.groovy.junit.annotation.BeforeThread
import org.junit.Test
import org.junit.runner.RunWith
import org.ngrinder.http.HTTPRequest
import org.ngrinder.http.HTTPRequestControl
import org.ngrinder.http.HTTPResponse

@RunWith(GrinderRunner)
class Mix6040 {
  static GTest sent
  static GTest updated
  static HTTPRequest sendRequest
  static HTTPRequest updateRequest
  static String app
  static int devices

  @BeforeProcess
  static void beforeProcess() {
    HTTPRequestControl.setConnectionTimeout(10_000)
    def (api, name, key, count) = grinder.properties.getProperty('param').tokenize(',')
    app = "$api/v1/apps/$name"
    devices = count as int
    def headers = ['Authorization': "Bearer $key".toString(), 'Content-Type': 'application/json']
    sendRequest = new HTTPRequest()
    sendRequest.setHeaders(headers)
    updateRequest = new HTTPRequest()
    updateRequest.setHeaders(headers)
    sent = new GTest(1, 'send')
    sent.record(sendRequest)
    updated = new GTest(2, 'session update')
    updated.record(updateRequest)
  }

  @BeforeThread
  void beforeThread() {
    grinder.statistics.delayReports = true
  }

  @Test
  void mix() {
    ThreadLocalRandom random = ThreadLocalRandom.current()
    String device = "ngrinder-${random.nextInt(devices)}"
    if (random.nextInt(100) < 60) {
      String body = """{"audience":{"device":"$device"},"content":{"title":"Shipped","body":"Order 77 is on its way"},
          "delivery":{"ttl":"PT1M","collapse_key":"ngrinder"}}"""
      HTTPResponse response = sendRequest.POST("$app/messages".toString(), body.getBytes('UTF-8'))
      assertThat(response.statusCode, is(202))
      return
    }
    HTTPResponse response =
        updateRequest.PUT("$app/devices/$device/session".toString(), '{"app_version":"1.2"}'.getBytes('UTF-8'))
    assertThat(response.statusCode, is(204))
  }
}
