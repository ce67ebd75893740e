package io.pushplanet.common.device;

import com.fasterxml.jackson.annotation.JsonProperty;

/// What kind of device it is, as its app says.
public enum Platform {
  @JsonProperty("android")
  ANDROID,
  @JsonProperty("ios")
  IOS,
  @JsonProperty("web")
  WEB,
  @JsonProperty("iot")
  IOT
}
