package io.pushplanet.quickstart.services;

class InstalledServicesIT extends LocalServicesContract {

  @Override
  ServicesChoice choice() {
    return ServicesChoice.INSTALLED;
  }
}
