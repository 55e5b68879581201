package io.github.roost.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.options.ColorScheme;
import io.github.roost.bench.report.Evidence;
import io.github.roost.bench.report.Results;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads the page of a run as a person does, in Debian's Chromium. */
@Tag("program")
@SuppressWarnings("NullAway.Init")
class EvidencePageTest {
    private static final Path CHROMIUM = Path.of("/usr/bin/chromium");
    private static final int PHONE_WIDTH = 390;

    @TempDir
    private static Path folder;

    private static Playwright playwright;
    private static Browser browser;
    private static String address;
    private final List<String> requests = new ArrayList<>();

    @BeforeAll
    static void start() throws Exception {
        assumeTrue(Files.isExecutable(CHROMIUM), "needs Debian's chromium: apt-get install chromium");
        Results results =
                Results.read(Path.of("../bench/src/test/resources/io/github/roost/bench/report/small-run.json"));
        address = Files.writeString(folder.resolve("index.html"), Evidence.page(results))
                .toUri()
                .toString();
        playwright = Playwright.create(
                new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
        browser = playwright.chromium().launch(new BrowserType.LaunchOptions().setExecutablePath(CHROMIUM));
    }

    @AfterAll
    static void end() {
        if (playwright != null) {
            browser.close();
            playwright.close();
        }
    }

    private Page open(ColorScheme scheme) {
        BrowserContext context = browser.newContext(
                new Browser.NewContextOptions().setColorScheme(scheme).setViewportSize(PHONE_WIDTH, 800));
        Page page = context.newPage();
        page.onRequest(request -> requests.add(request.url()));
        page.navigate(address);
        return page;
    }

    @Test
    void aPhoneShowsPlotsAsWideAsItselfAndScrollsTablesAlone() {
        Page page = open(ColorScheme.LIGHT);

        assertThat(page.evaluate("document.documentElement.scrollWidth")).isEqualTo(PHONE_WIDTH);
        assertThat(page.locator("figure svg").count()).isGreaterThan(15);
        double width = page.locator("figure svg").first().boundingBox().width;
        assertThat(width).isBetween(PHONE_WIDTH - 60.0, (double) PHONE_WIDTH);
        assertThat(requests).containsExactly(address);
    }

    @Test
    void darkIsDarkInPlotsToo() {
        Page light = open(ColorScheme.LIGHT);
        Page dark = open(ColorScheme.DARK);

        assertThat(brightness(light, "body", "backgroundColor")).isGreaterThan(200);
        assertThat(brightness(dark, "body", "backgroundColor")).isLessThan(60);
        assertThat(brightness(light, "figure svg [style*='--ink']", "fill")).isLessThan(80);
        assertThat(brightness(dark, "figure svg [style*='--ink']", "fill")).isGreaterThan(180);
    }

    private static double brightness(Page page, String element, String property) {
        String color = (String) page.locator(element)
                .first()
                .evaluate("(element, property) => getComputedStyle(element)[property]", property);
        return Pattern.compile("\\d+")
                .matcher(color)
                .results()
                .limit(3)
                .mapToInt(match -> Integer.parseInt(match.group()))
                .average()
                .orElseThrow();
    }
}
