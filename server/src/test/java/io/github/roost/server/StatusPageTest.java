package io.github.roost.server;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import io.github.roost.core.Registration;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Uses the status page as a person does, in Debian's Chromium. */
@Tag("program")
@SuppressWarnings("NullAway.Init")
class StatusPageTest {
    private static final Path CHROMIUM = Path.of("/usr/bin/chromium");
    private static final int PHONE_WIDTH = 360;

    private static SmallService service;
    private static Playwright playwright;
    private static Browser browser;
    private final List<String> requests = new ArrayList<>();
    private final List<String> complaints = new ArrayList<>();
    private BrowserContext context;
    private Page page;

    @BeforeAll
    static void start() {
        assumeTrue(Files.isExecutable(CHROMIUM), "needs Debian's chromium: apt-get install chromium");
        service = new SmallService("pack:2 l3:2(size=32MiB) core:2 pu:1", 1_024, ServeSettings.DEFAULT).withTables();
        playwright = Playwright.create(
                new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
        browser = playwright.chromium().launch(new BrowserType.LaunchOptions().setExecutablePath(CHROMIUM));
    }

    @AfterAll
    static void end() {
        if (service != null) {
            browser.close();
            playwright.close();
            service.close();
        }
    }

    @BeforeEach
    void open() {
        open(new Browser.NewContextOptions().setColorScheme(ColorScheme.LIGHT));
    }

    private void open(Browser.NewContextOptions options) {
        context = browser.newContext(options);
        page = context.newPage();
        page.onRequest(request -> requests.add(request.url()));
        page.onConsoleMessage(message -> {
            if ("error".equals(message.type())) {
                complaints.add(message.text());
            }
        });
        page.onPageError(complaints::add);
        page.navigate(service.uri("/").toString());
        assertThat(page.locator("#summary")).containsText("2 tables of 400 rows on 8 workers in 4 cache domains");
    }

    @AfterEach
    void leave() {
        context.close();
    }

    private Locator domain(int id) {
        return page.getByRole(
                AriaRole.LISTITEM,
                new Page.GetByRoleOptions().setName("Cache domain " + id).setExact(true));
    }

    private void search(String like) {
        page.getByLabel("Like").fill(like);
        page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Search"))
                .click();
    }

    private Locator hits() {
        return page.getByRole(AriaRole.LIST, new Page.GetByRoleOptions().setName("Answers, nearest first"))
                .getByRole(AriaRole.LISTITEM);
    }

    @Test
    void theMachineIsDrawnAsPackagesDomainsAndWorkers() {
        assertThat(page.getByRole(AriaRole.REGION, new Page.GetByRoleOptions().setName("Package 1")))
                .isVisible();
        assertThat(page.locator(".package")).hasCount(2);
        assertThat(page.locator(".package .domain")).hasCount(4);
        assertThat(domain(3)).containsText("Cache domain 3, 32.0 MiB cache");
        assertThat(domain(1).locator(".workers li")).hasCount(2);
        assertThat(domain(1)).containsText("worker 3");
    }

    @Test
    void aMachineOfTwelveDomainsOfEightIsSeenWhole() {
        leave();
        try (SmallService genoa =
                new SmallService("pack:1 l3:12(size=32MiB) core:8 pu:1", 1_024, ServeSettings.DEFAULT).withTables()) {
            context = browser.newContext(new Browser.NewContextOptions().setViewportSize(1_280, 900));
            page = context.newPage();
            page.navigate(genoa.uri("/").toString());
            assertThat(page.locator("#summary")).containsText("on 96 workers in 12 cache domains");
            assertThat(page.locator("#machine.compact .domain")).hasCount(12);
            assertThat(domain(11).locator(".workers li")).hasCount(8);
            // All domains, their workers and where the traffic goes without scrolling.
            assertThat(((Number) page.locator("#machine").evaluate("machine => machine.getBoundingClientRect().bottom"))
                            .doubleValue())
                    .isLessThan(900);
            search(SmallService.PHRASE);
            assertThat(hits()).hasCount(10);
            Locator strip = page.getByRole(
                    AriaRole.IMG,
                    new Page.GetByRoleOptions()
                            .setName(Pattern.compile("^Traffic of each cache domain: most now in domain \\d+")));
            page.waitForCondition(() -> {
                genoa.post("/search", "{\"like\":\"games-1\"}");
                return strip.isVisible();
            });
            assertThat(page.locator("#traffic-domains li")).hasCount(12);
        }
    }

    @Test
    void aTableIsShownInTheDomainWhereItLives() {
        int home = service.get("/tables/net").json().path("homes").get(0).asInt();

        domain(home).locator("summary").click();

        assertThat(domain(home).locator(".tables")).containsText("net");
        for (int other = 0; other < 4; other++) {
            if (other != home) {
                assertThat(domain(other).locator(".tables li").filter(new Locator.FilterOptions().setHasText("net")))
                        .hasCount(0);
            }
        }
    }

    @Test
    void theSearchBoxAnswersInWordsAndTellsWhichWorkersOfWhichDomainsRan() {
        search(SmallService.PHRASE);

        assertThat(hits()).hasCount(10);
        String nearest = service.exact(List.of("games", "net"), new float[SmallService.DIMENSION], 1)
                .getFirst();
        assertThat(hits().first()).containsText(nearest + ": row ");
        assertThat(page.locator("#ran"))
                .hasText(Pattern.compile("2 tables were searched in [0-9.]+ ms by worker \\d on cache domain \\d .*"));
        assertThat(page.locator("#ran"))
                .hasText(Pattern.compile("[1-9]\\d* vectors were compared, \\d+ graph nodes or lists were read"));
    }

    @Test
    void missesAreSaidNotToBeCountedAndTheRecallsHaveTheirPlace() {
        assertThat(page.locator("#misses")).containsText("L3 misses: n/a");
        assertThat(page.getByRole(AriaRole.HEADING, new Page.GetByRoleOptions().setName("Recall")))
                .isVisible();
    }

    @Test
    void theAddressMayHaveTheQuery() {
        page.navigate(service.uri("/?like=games-9").toString());

        assertThat(page.getByLabel("Like")).hasValue("games-9");
    }

    @Test
    void aVectorIsAQueryToo() {
        float[] row = service.vector("net-5");
        search(Arrays.toString(row));

        assertThat(hits().first()).containsText("net-5: row ");
    }

    @Test
    void aVectorThatIsNotWrittenAsOneIsToldInOneSentence() {
        search("[1, 2");

        assertThat(page.getByRole(AriaRole.ALERT))
                .hasText("a vector must be numbers between brackets, [0.1, 0.2], got [1, 2");
    }

    @Test
    void oneTableIsSearchedByOneWorkerThatIsNamed() {
        page.getByLabel("In", new Page.GetByLabelOptions().setExact(true)).selectOption("games");
        search("net-5");

        assertThat(hits().first()).containsText(Pattern.compile("\\(table games, id \\d+, distance "));
        assertThat(page.locator("#ran"))
                .hasText(
                        Pattern.compile("Table games was searched in [0-9.]+ ms by worker \\d on cache domain \\d\\."));
    }

    @Test
    void whatCannotBeSearchedIsToldInOneSentence() {
        search("no such thing");

        assertThat(page.getByRole(AriaRole.ALERT))
                .hasText(
                        "like must be the id or the name of a row, or one of the phrases of GET /phrases, got \"no such thing\"");
        assertThat(hits()).hasCount(0);
    }

    @Test
    void aDomainThatWorksIsColoredAndOneThatRestsIsNot() throws InterruptedException {
        int home = service.get("/tables/games").json().path("homes").get(0).asInt();
        int resting = service.get("/tables/net").json().path("homes").get(0).asInt() == 3 || home == 3 ? 2 : 3;
        String cold = color(domain(resting));

        AtomicBoolean enough = new AtomicBoolean();
        Thread searching = Thread.startVirtualThread(() -> {
            while (!enough.get()) {
                service.post("/tables/games/search", "{\"like\":\"games-1\"}");
            }
        });
        try {
            assertThat(domain(home)).containsText("100 % of the traffic");
            page.waitForCondition(() -> !color(domain(home)).equals(cold));
        } finally {
            enough.set(true);
            searching.join();
        }
        assertThat(domain(home)).not().containsText("; 0 B since the start");
    }

    private static String color(Locator element) {
        return (String) element.evaluate("element => getComputedStyle(element).backgroundColor");
    }

    @Test
    void aChangeOfTheMappingIsToldAsItHappens() {
        Locator changes = page.getByRole(
                        AriaRole.LIST, new Page.GetByRoleOptions().setName("Changes of the mapping, latest first"))
                .getByRole(AriaRole.LISTITEM);
        // The mapper may move others at any time, so this change need not be the latest.
        Locator ofNewcomer = changes.filter(new Locator.FilterOptions().setHasText("newcomer was added"));
        assertThat(ofNewcomer).hasCount(0);

        try (Registration newcomer = service.orchestrator.register("newcomer")) {
            int home = service.orchestrator.homes(newcomer.id()).getFirst();

            assertThat(ofNewcomer).containsText("newcomer was added, home: domain " + home);
            page.waitForCondition(() -> page.locator("#epoch")
                    .textContent()
                    .equals("Epoch " + service.orchestrator.mapping().epoch() + " is in force."));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"Steals per second", "Remaps since the start", "Waiting tasks", "Time to the answer, ms"})
    void theChartsTellTheirLatestValuesInWords(String title) {
        search(SmallService.PHRASE);
        Locator chart = page.getByRole(
                AriaRole.IMG, new Page.GetByRoleOptions().setName(Pattern.compile("^" + title + ": .* \\d")));

        assertThat(chart).isVisible();
        page.waitForCondition(
                () -> chart.locator("polyline").first().getAttribute("points").split(" ").length > 1);
    }

    @Test
    void theKeyboardAloneDoesIt() {
        page.keyboard().press("Tab");
        assertThat(page.getByLabel("Like")).isFocused();
        page.keyboard().type("games-7");
        page.keyboard().press("Tab");
        assertThat(page.getByLabel("In", new Page.GetByLabelOptions().setExact(true)))
                .isFocused();
        page.keyboard().press("Tab");
        page.keyboard().press("Enter");
        assertThat(hits().first()).containsText("games-7: row 7 of games");
        page.keyboard().press("Tab");
        assertThat(domain(0).locator("summary")).isFocused();
        page.keyboard().press("Enter");
        assertThat(domain(0).locator("details")).hasAttribute("open", "");
    }

    @Test
    void aPhoneShowsItWithoutScrollingSideways() {
        leave();
        open(new Browser.NewContextOptions().setViewportSize(PHONE_WIDTH, 740));
        search(SmallService.PHRASE);
        assertThat(hits()).hasCount(10);

        assertThat(page.evaluate("document.documentElement.scrollWidth")).isEqualTo(PHONE_WIDTH);
    }

    @Test
    void darkIsDarkAndLightIsLight() {
        String light = color(page.locator("body"));
        leave();
        open(new Browser.NewContextOptions().setColorScheme(ColorScheme.DARK));
        String dark = color(page.locator("body"));

        assertThat(brightness(light)).isGreaterThan(200);
        assertThat(brightness(dark)).isLessThan(60);
        assertThat(brightness((String) page.locator("body").evaluate("body => getComputedStyle(body).color")))
                .isGreaterThan(200);
    }

    private static double brightness(String color) {
        return Pattern.compile("\\d+")
                .matcher(color)
                .results()
                .limit(3)
                .mapToInt(match -> Integer.parseInt(match.group()))
                .average()
                .orElseThrow();
    }

    @Test
    void nothingIsFetchedFromElsewhereAndNothingGoesWrong() {
        search(SmallService.PHRASE);
        assertThat(hits()).hasCount(10);

        assertThat(requests).allMatch(url -> url.startsWith(service.uri("/").toString()) || url.startsWith("data:"));
        assertThat(complaints).isEmpty();
    }
}
