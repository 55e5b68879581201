package io.github.roost.cli.site;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The site of this checkout. */
class SiteTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern LINK = Pattern.compile("href=\"([^\"]*)\"");

    private final ByteArrayOutputStream messages = new ByteArrayOutputStream();

    @TempDir
    private Path site;

    private void build(boolean withApi) throws IOException {
        new Site(ROOT, site, new PrintStream(messages, true, StandardCharsets.UTF_8)).build(withApi);
    }

    @Test
    void everyGuideIsAPageAndEveryLinkLeadsSomewhere() throws IOException {
        build(false);
        assertThat(Files.readString(site.resolve("index.html")))
                .contains("<title>Roost</title>", "<table>", "<h2>Guide</h2>", "<h2>Reference</h2>");
        assertThat(site.resolve("docs/guide/vector-tables.html")).exists();
        List<String> broken = new ArrayList<>();
        for (Path page : pages()) {
            Matcher links = LINK.matcher(Files.readString(page));
            while (links.find()) {
                if (!leadsSomewhere(page, links.group(1))) {
                    broken.add(site.relativize(page) + " -> " + links.group(1));
                }
            }
        }
        assertThat(broken).isEmpty();
    }

    private List<Path> pages() throws IOException {
        try (Stream<Path> files = Files.walk(site)) {
            return files.filter(file -> file.toString().endsWith(".html")).toList();
        }
    }

    private static boolean leadsSomewhere(Path page, String link) throws IOException {
        if (link.startsWith("http")) {
            return true;
        }
        if (link.startsWith("file:")) {
            return Files.exists(Path.of(URI.create(link)));
        }
        int hash = link.indexOf('#');
        Path to = hash == 0
                ? page
                : page.resolveSibling(hash < 0 ? link : link.substring(0, hash)).normalize();
        return Files.exists(to)
                && (hash < 0 || Files.readString(to).contains("id=\"" + link.substring(hash + 1) + "\""));
    }

    @Test
    @Tag("program")
    void theJavadocHasEveryModule() throws IOException {
        build(true);
        assertThat(messages.toString(StandardCharsets.UTF_8)).contains("and the Javadoc");
        assertThat(site.resolve("api/io.github.roost.vector/io/github/roost/vector/VectorTable.html"))
                .exists();
        assertThat(site.resolve("api/io.github.roost.index.ivf/module-summary.html"))
                .exists();
        assertThat(Files.readString(site.resolve("index.html"))).contains("href=\"api/index.html\"");
    }
}
