import com.hivemq.embedded.EmbeddedHiveMQ;
import java.nio.file.Files;
import java.nio.file.Path;

/// HiveMQ CE on a port of the loopback address, as it comes, but without usage statistics. Run as a
/// source file, for comparison only.
final class HiveMqPeer {
  public static void main(String[] arguments) throws Exception {
    Path home = Files.createDirectories(Path.of(arguments[1]));
    Path settings = Files.createDirectories(home.resolve("conf"));
    Files.writeString(
        settings.resolve("config.xml"),
        """
        <?xml version="1.0"?>
        <hivemq>
          <listeners>
            <tcp-listener><port>%s</port><bind-address>127.0.0.1</bind-address></tcp-listener>
          </listeners>
          <anonymous-usage-statistics><enabled>false</enabled></anonymous-usage-statistics>
        </hivemq>
        """
            .formatted(arguments[0]));
    EmbeddedHiveMQ.builder()
        .withConfigurationFolder(settings)
        .withDataFolder(Files.createDirectories(home.resolve("data")))
        .withExtensionsFolder(Files.createDirectories(home.resolve("extensions")))
        .build()
        .start()
        .join();
    Thread.currentThread().join();
  }
}
