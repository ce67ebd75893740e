package io.pushplanet.cm.mqtt;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The properties of one MQTT 5 packet. Immutable; [#NONE] for every 3.1.1 packet.
public record MqttProperties(
    Map<PropertyId, Long> numbers,
    Map<PropertyId, String> texts,
    Map<PropertyId, Binary> binaries,
    List<UserProperty> userProperties) {

  public static final MqttProperties NONE =
      new MqttProperties(Map.of(), Map.of(), Map.of(), List.of());

  public MqttProperties {
    numbers = Map.copyOf(numbers);
    texts = Map.copyOf(texts);
    binaries = Map.copyOf(binaries);
    userProperties = List.copyOf(userProperties);
  }

  public boolean isEmpty() {
    return numbers.isEmpty() && texts.isEmpty() && binaries.isEmpty() && userProperties.isEmpty();
  }

  public long number(PropertyId property, long absent) {
    Long value = numbers.get(property);
    return value == null ? absent : value;
  }

  public Optional<String> text(PropertyId property) {
    return Optional.ofNullable(texts.get(property));
  }

  public boolean has(PropertyId property) {
    return numbers.containsKey(property)
        || texts.containsKey(property)
        || binaries.containsKey(property);
  }

  public static MqttProperties with(PropertyId property, long value) {
    return new Builder().number(property, value).build();
  }

  public static MqttProperties with(PropertyId property, String value) {
    return new Builder().text(property, value).build();
  }

  public static Builder builder() {
    return new Builder();
  }

  public static final class Builder {
    private final Map<PropertyId, Long> numbers = new EnumMap<>(PropertyId.class);
    private final Map<PropertyId, String> texts = new EnumMap<>(PropertyId.class);
    private final Map<PropertyId, Binary> binaries = new EnumMap<>(PropertyId.class);
    private final List<UserProperty> userProperties = new ArrayList<>();

    public Builder number(PropertyId property, long value) {
      numbers.put(property, value);
      return this;
    }

    public Builder text(PropertyId property, String value) {
      texts.put(property, value);
      return this;
    }

    public Builder binary(PropertyId property, byte[] value) {
      binaries.put(property, new Binary(value));
      return this;
    }

    public Builder user(String name, String value) {
      userProperties.add(new UserProperty(name, value));
      return this;
    }

    public int userProperties() {
      return userProperties.size();
    }

    public boolean has(PropertyId property) {
      return numbers.containsKey(property)
          || texts.containsKey(property)
          || binaries.containsKey(property);
    }

    public MqttProperties build() {
      return numbers.isEmpty() && texts.isEmpty() && binaries.isEmpty() && userProperties.isEmpty()
          ? NONE
          : new MqttProperties(numbers, texts, binaries, userProperties);
    }
  }
}
