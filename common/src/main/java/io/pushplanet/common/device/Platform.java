package io.pushplanet.common.device;

import com.fasterxml.jackson.annotation.JsonProperty;

/// The kind of device, as its app reports it.
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
