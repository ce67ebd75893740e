package io.pushplanet.quickstart.services;

class EmbeddedServicesIT extends LocalServicesContract {

  @Override
  ServicesChoice choice() {
    return ServicesChoice.EMBEDDED;
  }
}
