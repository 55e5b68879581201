package io.github.roost.testkit.packages;

import java.io.BufferedReader;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.zip.GZIPInputStream;

/**
 * The packages of Debian 12 with their embeddings, and queries and phrases to search with. Immutable; arrays are not
 * copied.
 *
 * @param packages the packages, in the order of the vectors
 * @param vectors one embedding per package, 128 signed bytes as floats
 * @param sections Debian's sections, largest first, then by name
 * @param queries synopses in the style of typed queries
 * @param phrases short phrases in the style of typed queries
 */
public record DebianPackages(
        List<Package> packages, float[][] vectors, List<Section> sections, List<Query> queries, List<Query> phrases) {
    public static final int DIMENSION = 128;

    /** One package. */
    @SuppressWarnings("JavaLangClash") // Debian's term; java.lang.Package is not used here
    public record Package(String section, String name, String synopsis) {}

    /**
     * One section.
     *
     * @param name its name
     * @param rows ordinals of its packages, ascending
     */
    public record Section(String name, int[] rows) {}

    /**
     * A query.
     *
     * @param section the section that it is about, empty for a phrase
     * @param text in words
     * @param vector its embedding
     */
    public record Query(String section, String text, float[] vector) {}

    /**
     * Reads the data set.
     *
     * @param folder the folder {@code debian-packages}
     * @throws IOException if a file is missing or the files do not match each other
     */
    public static DebianPackages read(Path folder) throws IOException {
        List<Package> packages = new ArrayList<>();
        for (String[] columns : table(folder.resolve("packages.tsv.gz"), 3)) {
            packages.add(new Package(columns[0], columns[1], columns[2]));
        }
        float[][] vectors = vectors(folder.resolve("vectors.i8"), packages.size());
        List<String[]> queries = table(folder.resolve("queries.tsv.gz"), 2);
        List<String[]> phrases = table(folder.resolve("phrases.txt"), 1);
        return new DebianPackages(
                List.copyOf(packages),
                vectors,
                sections(packages),
                queries(queries, vectors(folder.resolve("queries.i8"), queries.size())),
                queries(phrases, vectors(folder.resolve("phrases.i8"), phrases.size())));
    }

    /** Restricts the data set to its largest sections and the queries about them. */
    public DebianPackages largestSections(int count) {
        if (count == sections.size()) {
            return this;
        }
        Set<String> kept = sections.stream().limit(count).map(Section::name).collect(Collectors.toSet());
        List<Package> fewer = new ArrayList<>();
        List<float[]> theirs = new ArrayList<>();
        for (int row = 0; row < packages.size(); row++) {
            if (kept.contains(packages.get(row).section())) {
                fewer.add(packages.get(row));
                theirs.add(vectors[row]);
            }
        }
        List<Query> about =
                queries.stream().filter(query -> kept.contains(query.section())).toList();
        return new DebianPackages(List.copyOf(fewer), theirs.toArray(float[][]::new), sections(fewer), about, phrases);
    }

    /** The embeddings of a section's packages, in the order of its rows. */
    public float[][] vectorsOf(Section section) {
        float[][] result = new float[section.rows().length][];
        for (int i = 0; i < result.length; i++) {
            result[i] = vectors[section.rows()[i]];
        }
        return result;
    }

    private static List<Section> sections(List<Package> packages) {
        Map<String, List<Integer>> rows = new HashMap<>();
        for (int row = 0; row < packages.size(); row++) {
            rows.computeIfAbsent(packages.get(row).section(), name -> new ArrayList<>())
                    .add(row);
        }
        return rows.entrySet().stream()
                .map(entry -> new Section(
                        entry.getKey(),
                        entry.getValue().stream().mapToInt(Integer::intValue).toArray()))
                .sorted(Comparator.comparingInt((Section section) -> -section.rows().length)
                        .thenComparing(Section::name))
                .toList();
    }

    private static List<Query> queries(List<String[]> texts, float[][] vectors) {
        List<Query> queries = new ArrayList<>();
        for (int i = 0; i < vectors.length; i++) {
            String[] columns = texts.get(i);
            queries.add(new Query(columns.length == 1 ? "" : columns[0], columns[columns.length - 1], vectors[i]));
        }
        return List.copyOf(queries);
    }

    private static List<String[]> table(Path file, int columns) throws IOException {
        requireFile(file);
        List<String[]> rows = new ArrayList<>();
        try (InputStream raw = Files.newInputStream(file);
                InputStream bytes = file.toString().endsWith(".gz") ? new GZIPInputStream(raw, 1 << 16) : raw;
                BufferedReader lines = new BufferedReader(new InputStreamReader(bytes, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] row = line.split("\t", -1);
                if (row.length != columns) {
                    throw new IOException(file + " must have " + columns + " columns, got " + row.length + " in line "
                            + (rows.size() + 1));
                }
                rows.add(row);
            }
        }
        return rows;
    }

    private static float[][] vectors(Path file, int rows) throws IOException {
        requireFile(file);
        byte[] bytes = Files.readAllBytes(file);
        if (bytes.length != (long) rows * DIMENSION) {
            throw new IOException(
                    file + " must have " + rows + " rows of " + DIMENSION + " bytes, got " + bytes.length + " bytes");
        }
        float[][] vectors = new float[rows][DIMENSION];
        for (int row = 0; row < rows; row++) {
            for (int i = 0; i < DIMENSION; i++) {
                vectors[row][i] = bytes[row * DIMENSION + i];
            }
        }
        return vectors;
    }

    private static void requireFile(Path file) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new FileNotFoundException(file + " is missing: the Debian packages belong there");
        }
    }
}
