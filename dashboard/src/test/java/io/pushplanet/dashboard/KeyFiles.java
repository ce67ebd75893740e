package io.pushplanet.dashboard;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// Makes files like those of Apple and Google. They are valid in form, and work nowhere.
public final class KeyFiles {
  private KeyFiles() {}

  public static String p8(String curve) throws GeneralSecurityException {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
    generator.initialize(new ECGenParameterSpec(curve));
    return pem(generator.generateKeyPair().getPrivate().getEncoded());
  }

  public static String rsaPem() throws GeneralSecurityException {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
    generator.initialize(2048);
    return pem(generator.generateKeyPair().getPrivate().getEncoded());
  }

  private static String pem(byte[] der) {
    return "-----BEGIN PRIVATE KEY-----\n"
        + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der)
        + "\n-----END PRIVATE KEY-----\n";
  }

  public static String serviceAccount() throws GeneralSecurityException {
    return """
    {"type":"service_account","project_id":"demo-project","private_key_id":"abc123",
     "private_key":"%s","client_email":"push@demo-project.iam.gserviceaccount.com",
     "token_uri":"https://oauth2.googleapis.com/token"}
    """
        .formatted(rsaPem().replace("\n", "\\n"));
  }

  /// A .p12 by the JDK's keytool.
  ///
  /// @param startsInDays when its 20 days begin; -30 makes it expired
  public static byte[] p12(String password, int startsInDays, String... extensions)
      throws IOException, InterruptedException {
    Path file = Files.createTempDirectory("pushplanet-p12").resolve("apns.p12");
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "apns",
                "-keyalg",
                "EC",
                "-groupname",
                "secp256r1",
                "-dname",
                "UID=com.example.shop, CN=Apple Push Services: com.example.shop",
                "-startdate",
                (startsInDays < 0 ? "" : "+") + startsInDays + "d",
                "-validity",
                "20",
                "-storetype",
                "PKCS12",
                "-keystore",
                file.toString(),
                "-storepass",
                password));
    for (String extension : extensions) {
      command.add("-ext");
      command.add(extension);
    }
    Process keytool = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(keytool.getInputStream().readAllBytes());
    if (!keytool.waitFor(120, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
      throw new IOException("keytool failed: " + said);
    }
    byte[] bytes = Files.readAllBytes(file);
    Files.delete(file);
    Files.delete(file.getParent());
    return bytes;
  }
}
