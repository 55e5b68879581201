package io.github.roost.bench.report;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.roost.bench.Provenance;
import io.github.roost.simulator.plot.Plot;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.commonmark.Extension;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.parser.Parser;
import org.commonmark.renderer.html.HtmlRenderer;

/**
 * Renders a run as documents. The text comes from a template, in which {@code {{view part}}} is replaced by a view of
 * that part's figures; so the template has the explanations, and the run alone has the figures. Stateless.
 */
public final class Evidence {
    private static final Pattern DIRECTIVE = Pattern.compile("\\{\\{(\\w+)(?: ([\\w-]+))?}}");
    private static final Pattern DRAWN = Pattern.compile("<p>plots-of-(\\d+)</p>");
    private static final List<Extension> TABLES = List.of(TablesExtension.create());
    private static final Map<String, Function<JsonNode, Block>> VIEWS = Map.ofEntries(
            Map.entry("scheduling", BenchViews::scheduling),
            Map.entry("locality", BenchViews::locality),
            Map.entry("gate", BenchViews::gate),
            Map.entry("remap", BenchViews::remap),
            Map.entry("lucene", BenchViews::lucene),
            Map.entry("serve", BenchViews::serve),
            Map.entry("rivals", PeerViews::rivals),
            Map.entry("ivf", PeerViews::ivf),
            Map.entry("fanout", PeerViews::fanOut),
            Map.entry("freshness", PeerViews::freshness),
            Map.entry("table", StoreViews::table),
            Map.entry("batch", StoreViews::batch),
            Map.entry("stalls", StoreViews::stalls),
            Map.entry("io", StoreViews::io),
            Map.entry("remote", StoreViews::remote),
            Map.entry("replay", ReplayViews::of),
            Map.entry("calibration", SimViews::calibration),
            Map.entry("sweep", SimViews::sweep),
            Map.entry("detail", SimViews::detail),
            Map.entry("paper", SimViews::paper),
            Map.entry("tables", SimViews::tables),
            Map.entry("drift", SimViews::drift),
            Map.entry("sensitivity", SimViews::sensitivity));

    private final Results results;
    private final List<List<Plot>> plots = new ArrayList<>();

    private Evidence(Results results) {
        this.results = results;
    }

    /**
     * Renders Markdown, without plots.
     *
     * @param source name of the file that holds the results
     */
    public static String markdown(Results results, String source) {
        String mark = "<!-- Made by roost bench all --evidence of %s and a template in bench: change those. -->\n\n"
                .formatted(source);
        return mark + new Evidence(results).filled(false).strip() + "\n";
    }

    /** Renders a self-contained HTML page: tables, and plots as SVG, in light and dark. */
    public static String page(Results results) {
        return new Evidence(results).page();
    }

    private String page() {
        String markdown = filled(true);
        String body = HtmlRenderer.builder()
                .extensions(TABLES)
                .escapeHtml(true)
                .build()
                .render(Parser.builder().extensions(TABLES).build().parse(markdown));
        String scrolling = body.replace("<table>", "<div class=\"table\" tabindex=\"0\"><table>")
                .replace("</table>", "</table></div>");
        String drawn = DRAWN.matcher(scrolling)
                .replaceAll(match -> Matcher.quoteReplacement(drawn(Integer.parseInt(match.group(1)))));
        return resource("page.html").replace("/* plots */", Plot.css()).replace("<!-- body -->", drawn);
    }

    private String drawn(int number) {
        List<Plot> together = plots.get(number);
        StringBuilder html = new StringBuilder("<div class=\"plots\">\n");
        for (int i = 0; i < together.size(); i++) {
            html.append("<figure>")
                    .append(drawn(together.get(i), "plot-%d-%d".formatted(number, i)))
                    .append("</figure>\n");
        }
        return html.append("</div>").toString();
    }

    /** If the plotting library fails, as on a machine without fonts, the page still shows the tables. */
    private static String drawn(Plot plot, String id) {
        try {
            return plot.inlineSvg(id);
        } catch (RuntimeException | LinkageError | InternalError notHere) {
            return "<figcaption>%s: could not be drawn (%s); are fonts installed?</figcaption>"
                    .formatted(plot.title(), notHere.getClass().getSimpleName());
        }
    }

    private String filled(boolean withPlots) {
        return DIRECTIVE
                .matcher(resource("evidence.md"))
                .replaceAll(match ->
                        Matcher.quoteReplacement(text(match.group(1), Optional.ofNullable(match.group(2)), withPlots)))
                .replaceAll("\n{3,}", "\n\n");
    }

    private String text(String view, Optional<String> name, boolean withPlots) {
        if (name.isEmpty()) {
            return provenance();
        }
        Optional<PartResult> part = results.part(name.get());
        if (view.equals("command")) {
            return part.map(Evidence::command).orElse("*Not a part of this run.*");
        }
        JsonNode json = part.map(PartResult::result).orElse(null);
        if (json == null) {
            return "";
        }
        Function<JsonNode, Block> views = Objects.requireNonNull(VIEWS.get(view), view);
        Block block;
        try {
            block = views.apply(json);
        } catch (RuntimeException otherJson) {
            // A part whose JSON does not fit its view must not hide the other parts.
            return "*Its figures are not what is shown here: %s*"
                    .formatted(otherJson.toString().replaceAll("[\\s*]+", " "));
        }
        if (!withPlots || block.plots().isEmpty()) {
            return block.markdown();
        }
        plots.add(block.plots());
        return "%s%n%nplots-of-%d".formatted(block.markdown(), plots.size() - 1);
    }

    private static String command(PartResult part) {
        return part.failure() == null
                ? "`%s` (%.0f s):".formatted(part.line(), part.seconds())
                : "`%s` failed: `%s`".formatted(part.line(), part.failure().replace('`', '\''));
    }

    private String provenance() {
        Provenance where = results.provenance();
        String versions = where.versions().entrySet().stream()
                .map(entry -> entry.getKey() + " " + entry.getValue())
                .collect(Collectors.joining(", "));
        double minutes =
                results.parts().stream().mapToDouble(PartResult::seconds).sum() / 60;
        String quick = results.quick()
                ? "\n- **A quick run, to see that everything works: no figure here is to be relied on.**"
                : "";
        return String.format(
                Locale.ROOT,
                "- Machine: %s%n- Versions: %s%n- Commit: %s%n- Written: %s, after %.0f min of %d parts%s",
                where.inWords(),
                versions,
                where.commit(),
                results.written(),
                minutes,
                results.parts().size(),
                quick);
    }

    private static String resource(String name) {
        try (InputStream in = Objects.requireNonNull(Evidence.class.getResourceAsStream(name), name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }
}
