import io.moquette.broker.Server;
import io.moquette.broker.config.MemoryConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;

/// Moquette on a port of the loopback address, as it comes, but without telemetry. Run as a source
/// file, for comparison only.
final class MoquettePeer {
  public static void main(String[] arguments) throws Exception {
    Path data = Files.createDirectories(Path.of(arguments[1]));
    var settings = new Properties();
    settings.setProperty("host", "127.0.0.1");
    settings.setProperty("port", arguments[0]);
    settings.setProperty("allow_anonymous", "true");
    settings.setProperty("telemetry_enabled", "false");
    settings.setProperty("data_path", data.toString());
    new Server().startServer(new MemoryConfig(settings));
    Thread.currentThread().join();
  }
}
