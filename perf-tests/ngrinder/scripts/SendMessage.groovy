// Sends one message per run to one of DEVICES devices and expects 202: accepted with the broker's confirm.
//
// Parameters (the controller's "Parameter" field, comma-separated): API address, app, API key, number of devices, e.g.
//   http://10.0.0.1:8080,demo,pp_…,10000
// The devices are ngrinder-0 … ngrinder-(n-1); register them once with RegisterDevices.groovy.
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
class SendMessage {
  static GTest sent
  static HTTPRequest request
  static String url
  static int devices

  @BeforeProcess
  static void beforeProcess() {
    HTTPRequestControl.setConnectionTimeout(10_000)
    def (api, app, key, count) = grinder.properties.getProperty('param').tokenize(',')
    url = "$api/v1/apps/$app/messages"
    devices = count as int
    request = new HTTPRequest()
    request.setHeaders(['Authorization': "Bearer $key".toString(), 'Content-Type': 'application/json'])
    sent = new GTest(1, 'send')
    sent.record(request)
  }

  @BeforeThread
  void beforeThread() {
    grinder.statistics.delayReports = true
  }

  @Test
  void send() {
    int device = ThreadLocalRandom.current().nextInt(devices)
    String body = """{"audience":{"device":"ngrinder-$device"},
        "content":{"title":"Shipped","body":"Order 77 is on its way","data":{"order":"77"}},
        "delivery":{"ttl":"PT1M","collapse_key":"ngrinder"}}"""
    HTTPResponse response = request.POST(url, body.getBytes('UTF-8'))
    assertThat(response.statusCode, is(202))
  }
}
