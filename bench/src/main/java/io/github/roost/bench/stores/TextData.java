package io.github.roost.bench.stores;

import io.github.roost.vector.VectorFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Texts with vectors in files, and queries. The first texts are stored, the next ones are the queries if words are not, and the others are added
 * later, under new numbers.
 *
 * @param vectors a file of vectors of length one
 * @param texts the texts of the vectors, one a line
 * @param words a file of vectors that are the queries, or empty
 * @param stored number of texts that are stored before all searches
 */
record TextData(Path vectors, Path texts, String words, int stored) {
    /** Number of queries. */
    static final int QUERIES = 100;

    private static final int ADDED = 2_000;

    /** The number of vectors that the file must have. */
    int needed() {
        return stored + QUERIES + ADDED;
    }

    /** The vectors of the queries. */
    float[][] queries() throws IOException {
        return words.isEmpty() ? read(vectors, stored, QUERIES) : read(Path.of(words), 0, QUERIES);
    }

    /** The vectors of the texts that are stored first. */
    float[][] storedVectors() throws IOException {
        return read(vectors, 0, stored);
    }

    private static float[][] read(Path file, int from, int count) throws IOException {
        try (VectorFile opened = VectorFile.open(file)) {
            float[][] read = new float[count][opened.dimension()];
            for (int i = 0; i < count; i++) {
                opened.read(from + i, read[i]);
            }
            return read;
        }
    }

    /** Texts by their numbers. */
    List<StoredText> read(int from, int to) throws IOException {
        // Texts that are added later come again under other numbers.
        int first = from < stored ? from : stored + QUERIES + (from - stored) % ADDED;
        int count = Math.min(to - from, needed() - first);
        float[][] rows = read(vectors, first, count);
        List<String> lines;
        try (Stream<String> all = Files.lines(texts)) {
            lines = all.skip(first).limit(count).toList();
        }
        return IntStream.range(0, count)
                .mapToObj(i -> new StoredText(from + i, lines.get(i), rows[i]))
                .toList();
    }
}
