// The periodic session update of a device: PUT …/session, expects 204.
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
class UpdateSession {
  static GTest updated
  static HTTPRequest request
  static String devicesUrl
  static int devices

  @BeforeProcess
  static void beforeProcess() {
    HTTPRequestControl.setConnectionTimeout(10_000)
    def (api, app, key, count) = grinder.properties.getProperty('param').tokenize(',')
    devicesUrl = "$api/v1/apps/$app/devices"
    devices = count as int
    request = new HTTPRequest()
    request.setHeaders(['Authorization': "Bearer $key".toString(), 'Content-Type': 'application/json'])
    updated = new GTest(1, 'session update')
    updated.record(request)
  }

  @BeforeThread
  void beforeThread() {
    grinder.statistics.delayReports = true
  }

  @Test
  void update() {
    int device = ThreadLocalRandom.current().nextInt(devices)
    HTTPResponse response =
        request.PUT("$devicesUrl/ngrinder-$device/session".toString(), '{"app_version":"1.2"}'.getBytes('UTF-8'))
    assertThat(response.statusCode, is(204))
  }
}
