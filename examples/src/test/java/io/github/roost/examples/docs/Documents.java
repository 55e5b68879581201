package io.github.roost.examples.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The repository's Markdown files for its users. */
public final class Documents {
    /** Tests run in the folder of their module. */
    static final Path PROJECT = Path.of("..");

    private Documents() {}

    /** README.md, CONTRIBUTING.md and everything under docs. */
    public static List<Path> all() throws IOException {
        try (Stream<Path> files = Files.walk(PROJECT.resolve("docs"))) {
            return Stream.concat(Stream.of("README.md", "CONTRIBUTING.md").map(PROJECT::resolve), files)
                    .filter(file -> file.toString().endsWith(".md"))
                    .sorted()
                    .toList();
        }
    }

    /** The sources of the examples, one after the other. */
    static String sources() throws IOException {
        StringBuilder sources = new StringBuilder();
        try (Stream<Path> files = Files.walk(PROJECT.resolve("examples"))) {
            for (Path file : files.filter(file -> file.toString().endsWith(".java"))
                    .sorted()
                    .toList()) {
                sources.append(Files.readString(file));
            }
        }
        return sources.toString();
    }
}
