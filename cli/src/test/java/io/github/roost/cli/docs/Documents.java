package io.github.roost.cli.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The repository's Markdown files, and the Java they speak of. */
public final class Documents {
    /** Tests run in the folder of their module. */
    static final Path PROJECT = Path.of("..");

    private Documents() {}

    /** The files written by hand: those of the repository's root, and everything under docs but the results. */
    public static List<Path> all() throws IOException {
        List<Path> documents = files(PROJECT.resolve("docs"), ".md");
        documents.removeIf(document -> document.startsWith(PROJECT.resolve("docs/results")));
        try (Stream<Path> root = Files.list(PROJECT)) {
            root.filter(file -> file.toString().endsWith(".md")).sorted().forEach(documents::add);
        }
        return documents;
    }

    /** The pages of docs/guide. */
    static List<Path> guides() throws IOException {
        return files(PROJECT.resolve("docs/guide"), ".md");
    }

    /** All Java files of the modules, and of the modules inside the examples. */
    static List<Path> javaFiles() throws IOException {
        List<Path> files = new ArrayList<>();
        for (Path parent : List.of(PROJECT, PROJECT.resolve("examples"))) {
            for (Path module : children(parent)) {
                Path sources = module.resolve("src");
                files.addAll(Files.isDirectory(sources) ? files(sources, ".java") : List.of());
            }
        }
        return files;
    }

    private static List<Path> children(Path folder) throws IOException {
        try (Stream<Path> children = Files.list(folder)) {
            return children.filter(Files::isDirectory).sorted().toList();
        }
    }

    private static List<Path> files(Path folder, String suffix) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return new ArrayList<>(files.filter(file -> file.toString().endsWith(suffix))
                    .sorted()
                    .toList());
        }
    }
}
