package io.pushplanet.dashboard.browser;

import io.pushplanet.common.testing.Installed;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.openqa.selenium.By;
import org.openqa.selenium.Cookie;
import org.openqa.selenium.Dimension;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.WebDriverException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.support.ui.WebDriverWait;

/// A real Chromium with its own profile, as Debian installs it. CHROMIUM and CHROMEDRIVER name
/// other places.
public final class Chromium implements AutoCloseable {
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final Duration PAUSE = Duration.ofMillis(20);

  private static final int MAX_STARTS = 3;

  private final ChromeDriver driver;
  private final Path profile;
  private final String address;

  private Chromium(ChromeDriver driver, Path profile, String address) {
    this.driver = driver;
    this.profile = profile;
    this.address = address;
  }

  public static Chromium open(String address) {
    Path chromium = Installed.program("chromium", "CHROMIUM", "chromium");
    Path chromeDriver = Installed.program("chromedriver", "CHROMEDRIVER", "chromium-driver");
    try {
      Path profile = Files.createTempDirectory(Path.of("target"), "chromium").toAbsolutePath();
      ChromeOptions options = new ChromeOptions();
      options.setBinary(chromium.toFile());
      options.addArguments(
          "--headless=new",
          "--no-sandbox",
          "--disable-gpu",
          "--disable-quic",
          "--no-first-run",
          "--disable-background-networking",
          "--disable-component-update",
          "--disable-sync",
          "--disable-dev-shm-usage",
          "--hide-scrollbars",
          "--user-data-dir=" + profile);
      return new Chromium(driver(chromeDriver, options), profile, address).size(1280, 900);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Selenium looks for a free port before it starts its driver: another process may take the port
  /// in between.
  private static ChromeDriver driver(Path chromeDriver, ChromeOptions options) {
    for (int time = 1; ; time++) {
      try {
        return new ChromeDriver(
            new ChromeDriverService.Builder()
                .usingDriverExecutable(chromeDriver.toFile())
                .usingAnyFreePort()
                .withTimeout(DEADLINE)
                .withLogOutput(java.io.OutputStream.nullOutputStream())
                .build(),
            options);
      } catch (WebDriverException e) {
        if (time == MAX_STARTS) {
          throw e;
        }
      }
    }
  }

  public Chromium size(int width, int height) {
    driver.executeCdpCommand(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
    driver.manage().window().setSize(new Dimension(Math.max(width, 500), height));
    return this;
  }

  public Chromium scheme(String darkOrLight) {
    driver.executeCdpCommand(
        "Emulation.setEmulatedMedia",
        Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", darkOrLight))));
    return this;
  }

  public Chromium timezone(String id) {
    driver.executeCdpCommand("Emulation.setTimezoneOverride", Map.of("timezoneId", id));
    return this;
  }

  public Chromium go(String path) {
    driver.get(address + path);
    return this;
  }

  public Chromium login(String name, String password) {
    return go("/login").type("username", name).type("password", password).press("Log in");
  }

  public Chromium type(String id, String text) {
    WebElement field = driver.findElement(By.id(id));
    if (!"file".equals(field.getDomAttribute("type"))) {
      field.clear();
    }
    field.sendKeys(text);
    return this;
  }

  /// Clicks the first visible button with these words and waits for the next page.
  public Chromium press(String words) {
    WebElement page = driver.findElement(By.tagName("html"));
    visible(By.xpath("//button[normalize-space()='" + words + "']")).click();
    return arrivedAfter(page);
  }

  /// Clicks it again while the server works, like an impatient operator.
  public Chromium pressTwice(String words) {
    WebElement page = driver.findElement(By.tagName("html"));
    driver.executeScript(
        "const button = arguments[0]; button.click(); setTimeout(() => button.click(), 200)",
        visible(By.xpath("//button[normalize-space()='" + words + "']")));
    return arrivedAfter(page);
  }

  /// The button of the form whose address ends with this.
  public Chromium pressIn(String formAction, String words) {
    WebElement page = driver.findElement(By.tagName("html"));
    visible(
            By.xpath(
                "//form[contains(@action,'"
                    + formAction
                    + "')]//button[normalize-space()='"
                    + words
                    + "']"))
        .click();
    return arrivedAfter(page);
  }

  public Chromium acceptAnyQuestion() {
    driver.executeScript("window.confirm = () => true");
    return this;
  }

  private Chromium arrivedAfter(WebElement page) {
    patiently().until(_ -> isGone(page));
    // While one page replaces the other, a script may find neither.
    patiently()
        .ignoring(WebDriverException.class)
        .until(_ -> "complete".equals(driver.executeScript("return document.readyState")));
    return this;
  }

  /// Selenium itself would only look every half second.
  private WebDriverWait patiently() {
    return new WebDriverWait(driver, DEADLINE, PAUSE);
  }

  /// While a page is being replaced, Chromium's driver reports errors for an old element that
  /// Selenium does not call stale.
  private static boolean isGone(WebElement page) {
    try {
      page.isEnabled();
      return false;
    } catch (WebDriverException e) {
      return true;
    }
  }

  private WebElement visible(By by) {
    return driver.findElements(by).stream()
        .filter(WebElement::isDisplayed)
        .findFirst()
        .orElseThrow(() -> new AssertionError("nothing visible for " + by + " in:\n" + text()));
  }

  /// Puts the keyboard's focus on this element and waits until a refresh has replaced it.
  public Chromium focusUntilReplaced(String css) {
    var focused =
        (WebElement)
            driver.executeScript(
                "const one = document.querySelector(arguments[0]); one.focus(); return one", css);
    patiently().until(_ -> isGone(focused));
    return this;
  }

  public Chromium waitFor(String css) {
    patiently().until(_ -> !driver.findElements(By.cssSelector(css)).isEmpty());
    return this;
  }

  public String text() {
    return driver.findElement(By.tagName("body")).getText();
  }

  public String textOf(String css) {
    return driver.findElement(By.cssSelector(css)).getText();
  }

  public Object focused() {
    return driver.executeScript("return document.activeElement.textContent");
  }

  public int count(String css) {
    return driver.findElements(By.cssSelector(css)).size();
  }

  public String path() {
    return driver.getCurrentUrl().substring(address.length());
  }

  public Cookie cookie(String name) {
    return driver.manage().getCookieNamed(name);
  }

  public Object script(String script) {
    return driver.executeScript(script);
  }

  /// Writes a picture of the whole page to `target/screenshots`.
  public void picture(String name) {
    try {
      Path folder = Files.createDirectories(Path.of("target", "screenshots"));
      long height = (Long) driver.executeScript("return document.documentElement.scrollHeight");
      long width = (Long) driver.executeScript("return window.innerWidth");
      size((int) width, (int) Math.min(3000, Math.max(700, height)));
      Files.write(folder.resolve(name + ".png"), driver.getScreenshotAs(OutputType.BYTES));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// The complaints of the browser, such as a violated Content-Security-Policy.
  public List<String> complaints() {
    return driver.manage().logs().get("browser").getAll().stream()
        .map(entry -> entry.getMessage())
        .toList();
  }

  @Override
  public void close() {
    driver.quit();
    try (var files = Files.walk(profile)) {
      files.sorted(java.util.Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
    } catch (IOException | UncheckedIOException e) {
      // The browser may still write while it ends; target is cleaned anyway.
    }
  }
}
