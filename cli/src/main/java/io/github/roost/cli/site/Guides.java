package io.github.roost.cli.site;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.commonmark.Extension;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Heading;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.parser.Parser;
import org.commonmark.renderer.html.HtmlRenderer;
import org.commonmark.renderer.text.TextContentRenderer;

/** The Markdown files of a checkout as HTML pages, each with links to all others. */
final class Guides {
    private static final List<Extension> TABLES = List.of(TablesExtension.create());
    /** The folders of docs, with capitals. */
    private static final List<String> SHELVES = List.of("Guide", "Reference", "Design", "Results");

    private static final Pattern HEADING = Pattern.compile("^# (.+)$", Pattern.MULTILINE);
    private static final Pattern NO_WORD = Pattern.compile("[^a-z0-9 _-]");
    private static final String STYLE = """
            :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
            body { margin: 0; display: flex; flex-wrap: wrap; }
            nav { padding: 1rem; flex: 1 1 12rem; max-width: 16rem; }
            nav a { display: block; padding: .1rem 0; }
            nav h2 { font-size: 1rem; margin: .75rem 0 .25rem; }
            nav .here { font-weight: bold; }
            main { padding: 1rem; flex: 1 1 30rem; min-width: 0; max-width: 60rem; }
            pre, code { font: .875rem/1.4 ui-monospace, monospace; }
            pre { overflow-x: auto; padding: .75rem; border: 1px solid #8886; }
            main > table { display: block; overflow-x: auto; border-collapse: collapse; }
            th, td { border: 1px solid #8886; padding: .25rem .5rem; text-align: left; vertical-align: top; }
            """;

    private final Path root;
    private final List<Shelf> shelves;
    private final List<Path> files;

    /** Pages that stand together, under a heading of the navigation. */
    private record Shelf(String heading, List<Path> pages) {}

    private Guides(Path root, List<Shelf> shelves) {
        this.root = root;
        this.shelves = shelves;
        this.files = shelves.stream().flatMap(shelf -> shelf.pages().stream()).toList();
    }

    /** Finds the pages of a checkout: README, then the shelves of docs in its order, then files for contributors. */
    static Guides of(Path root) throws IOException {
        List<Shelf> shelves = new ArrayList<>();
        shelves.add(new Shelf("", List.of(root.resolve("README.md"))));
        String readme = Files.readString(root.resolve("README.md"));
        Comparator<Path> asInReadme = Comparator.<Path>comparingInt(page -> place(readme, root.relativize(page)))
                .thenComparing(Comparator.naturalOrder());
        for (String shelf : SHELVES) {
            Path folder = root.resolve("docs").resolve(shelf.toLowerCase(Locale.ROOT));
            shelves.add(
                    new Shelf(shelf, pages(folder).stream().sorted(asInReadme).toList()));
        }
        try (Stream<Path> others = Files.list(root)) {
            shelves.add(new Shelf(
                    "Project",
                    others.filter(file -> isPage(file) && !file.endsWith("README.md"))
                            .sorted()
                            .toList()));
        }
        return new Guides(root, shelves);
    }

    /** Where a text has a link to a page, or behind all links. */
    private static int place(String text, Path page) {
        int place = text.indexOf("(" + page + ")");
        return place < 0 ? Integer.MAX_VALUE : place;
    }

    private static List<Path> pages(Path folder) throws IOException {
        if (Files.notExists(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Guides::isPage).toList();
        }
    }

    private static boolean isPage(Path file) {
        return file.toString().endsWith(".md");
    }

    /**
     * Writes all pages.
     *
     * @param hasApi whether the Javadoc is written too, in {@code api}
     * @return number of pages
     */
    int writeTo(Path site, boolean hasApi) throws IOException {
        for (Path file : files) {
            Path page = site.resolve(pageOf(root.relativize(file)));
            Files.createDirectories(page.getParent());
            Files.writeString(page, html(file, hasApi));
        }
        return files.size();
    }

    private static Path pageOf(Path file) {
        String name = file.toString();
        return Path.of(name.equals("README.md") ? "index.html" : name.replaceFirst("\\.md$", ".html"));
    }

    private String html(Path file, boolean hasApi) throws IOException {
        Node document = Parser.builder().extensions(TABLES).build().parse(Files.readString(file));
        document.accept(new AbstractVisitor() {
            @Override
            public void visit(Link link) {
                link.setDestination(target(file, link.getDestination()));
                visitChildren(link);
            }
        });
        String body = HtmlRenderer.builder()
                .extensions(TABLES)
                .attributeProviderFactory(context -> (node, tag, attributes) -> {
                    if (node instanceof Heading) {
                        attributes.put("id", anchor(text(node)));
                    }
                })
                .build()
                .render(document);
        return """
                <!DOCTYPE html>
                <html lang="en">
                <head>
                <meta charset="utf-8">
                <meta name="viewport" content="width=device-width, initial-scale=1">
                <title>%s</title>
                <style>
                %s</style>
                </head>
                <body>
                <nav aria-label="Pages">
                %s</nav>
                <main>
                %s</main>
                </body>
                </html>
                """.formatted(title(file), STYLE, navigation(file, hasApi), body);
    }

    /** The target of a Markdown link on the site; links to other files lead into the checkout. */
    private String target(Path file, String link) {
        if (link.contains("://") || link.startsWith("#") || link.isEmpty()) {
            return link;
        }
        int hash = link.indexOf('#');
        String path = hash < 0 ? link : link.substring(0, hash);
        Path to = file.resolveSibling(path).normalize();
        if (files.contains(to)) {
            return relative(file, pageOf(root.relativize(to))) + (hash < 0 ? "" : link.substring(hash));
        }
        return Files.exists(to) ? to.toUri().toString() : link;
    }

    private String relative(Path from, Path page) {
        Path folder = root.relativize(from).getParent();
        Path relative = folder == null ? page : folder.relativize(page);
        return relative.toString().replace('\\', '/');
    }

    private String navigation(Path here, boolean hasApi) throws IOException {
        StringBuilder links = new StringBuilder();
        for (Shelf shelf : shelves) {
            if (!shelf.heading().isEmpty() && !shelf.pages().isEmpty()) {
                links.append("<h2>").append(shelf.heading()).append("</h2>\n");
            }
            for (Path file : shelf.pages()) {
                links.append("<a href=\"%s\"%s>%s</a>\n"
                        .formatted(
                                relative(here, pageOf(root.relativize(file))),
                                file.equals(here) ? " class=\"here\" aria-current=\"page\"" : "",
                                title(file)));
            }
        }
        String api = hasApi ? "<a href=\"%s\">Javadoc</a>\n".formatted(relative(here, Path.of("api/index.html"))) : "";
        return api + links;
    }

    /** A page's first heading, or its name if it has none. */
    private static String title(Path file) throws IOException {
        Matcher heading = HEADING.matcher(Files.readString(file));
        String title = heading.find() ? heading.group(1) : file.getFileName().toString();
        return title.replace("`", "").replace("&", "&amp;").replace("<", "&lt;");
    }

    private static String text(Node node) {
        return TextContentRenderer.builder().build().render(node);
    }

    /** Anchors as GitHub makes them, so that links into a page work there and here. */
    private static String anchor(String heading) {
        Matcher noWord = NO_WORD.matcher(heading.strip().toLowerCase(Locale.ROOT));
        return noWord.replaceAll("").replace(' ', '-');
    }
}
