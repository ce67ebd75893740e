// Registers ngrinder-0 … ngrinder-(n-1), once, before the other scripts. Run it with one process and one thread per agent and a
// run count of n divided by the number of agents.
//
// Parameters: API address, app, API key, number of devices.
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
class RegisterDevices {
  static GTest registered
  static HTTPRequest request
  static String devicesUrl
  static int devices
  static int agents

  @BeforeProcess
  static void beforeProcess() {
    HTTPRequestControl.setConnectionTimeout(10_000)
    def (api, app, key, count) = grinder.properties.getProperty('param').tokenize(',')
    devicesUrl = "$api/v1/apps/$app/devices"
    devices = count as int
    agents = grinder.properties.getInt('grinder.agents', 1)
    request = new HTTPRequest()
    request.setHeaders(['Authorization': "Bearer $key".toString(), 'Content-Type': 'application/json'])
    registered = new GTest(1, 'register')
    registered.record(request)
  }

  @Test
  void register() {
    int device = grinder.runNumber * agents + grinder.agentNumber
    if (device >= devices) {
      return
    }
    HTTPResponse response =
        request.PUT(
            "$devicesUrl/ngrinder-$device".toString(),
            '{"platform":"android","channels":{"mqtt":true}}'.getBytes('UTF-8'))
    assertThat(response.statusCode in [200, 201], is(true))
  }
}
