package io.pushplanet.dashboard.credential;

import io.pushplanet.common.wire.WireForm;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/// The JSON file of a Google service account that may send through FCM
/// (https://firebase.google.com/docs/cloud-messaging/auth-server).
final class ServiceAccount {
  /// https://cloud.google.com/resource-manager/docs/creating-managing-projects
  private static final Pattern PROJECT = Pattern.compile("[a-z][a-z0-9-]{4,28}[a-z0-9]");

  private static final Set<String> THIS_MACHINE = Set.of("127.0.0.1", "localhost", "[::1]");

  /// https://docs.cloud.google.com/java/docs/reference/google-auth-library/latest/com.google.auth.Credentials
  private static final String GOOGLE = "googleapis.com";

  private ServiceAccount() {}

  static CheckedCredential check(byte[] file) throws RefusedCredential {
    JsonNode json;
    try {
      json = WireForm.mapper().readTree(file);
    } catch (JacksonException e) {
      throw new RefusedCredential("This is not a JSON file.");
    }
    if (json.has("project_info")) {
      throw new RefusedCredential(
          "This is google-services.json, which belongs into the Android app. Upload the service account's key:"
              + " Firebase console, Project settings, Service accounts, Generate new private key.");
    }
    if (!"service_account".equals(json.path("type").asString(""))) {
      throw new RefusedCredential(
          "This is not the key of a service account: \"type\" is not \"service_account\".");
    }
    String universe = json.path("universe_domain").asString(GOOGLE);
    if (!universe.equals(GOOGLE)) {
      throw new RefusedCredential(
          "This service account is of "
              + universe
              + ", another cloud than Google's own, where FCM is: \"universe_domain\" is not \""
              + GOOGLE
              + "\".");
    }
    String project = required(json, "project_id");
    if (!PROJECT.matcher(project).matches()) {
      throw new RefusedCredential("\"project_id\" is not the id of a Google Cloud project.");
    }
    String email = required(json, "client_email");
    if (!email.contains("@")) {
      throw new RefusedCredential("\"client_email\" is not an e-mail address.");
    }
    String keyId = required(json, "private_key_id");
    checkTokenUri(required(json, "token_uri"));
    Pem.privateKey(required(json, "private_key"), "RSA", "\"private_key\"");
    var detail = new LinkedHashMap<String, String>();
    detail.put("project_id", project);
    detail.put("client_email", email);
    detail.put("private_key_id", keyId);
    return new CheckedCredential(
        "fcm", List.of("production"), "service_account", detail, file, null);
  }

  private static String required(JsonNode json, String field) throws RefusedCredential {
    String value = json.path(field).asString("");
    if (value.isBlank()) {
      throw new RefusedCredential("\"" + field + "\" is missing in the file.");
    }
    return value;
  }

  /// The worker will send a signed assertion to this address.
  private static void checkTokenUri(String tokenUri) throws RefusedCredential {
    try {
      URI uri = URI.create(tokenUri);
      if (uri.getHost() != null
          && ("https".equals(uri.getScheme()) || THIS_MACHINE.contains(uri.getHost()))) {
        return;
      }
    } catch (IllegalArgumentException e) {
      // refused below
    }
    throw new RefusedCredential("\"token_uri\" is not an https address.");
  }
}
