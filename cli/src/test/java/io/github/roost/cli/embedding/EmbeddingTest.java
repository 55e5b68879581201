package io.github.roost.cli.embedding;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.testkit.ExactSearch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class EmbeddingTest {
    private static final Pattern JAVA_BLOCK = Pattern.compile("```java\\R(.*?)```", Pattern.DOTALL);
    private static final Pattern PACKAGE = Pattern.compile("^package .*?;\\R\\R");

    /** Tests run in the folder of their module. */
    private static final Path PROJECT = Path.of("..");

    @Test
    void theReadmeShowsThisVeryExample() throws IOException {
        String source = Files.readString(
                PROJECT.resolve("cli/src/main/java/io/github/roost/cli/embedding/Embedding.java"));
        Matcher block = JAVA_BLOCK.matcher(Files.readString(PROJECT.resolve("README.md")));

        assertThat(block.find()).isTrue();
        assertThat(block.group(1)).isEqualTo(PACKAGE.matcher(source).replaceFirst(""));
    }

    @Test
    void theExampleFindsTheNearestRows() {
        Random random = new Random(3);
        float[][] rows = new float[500][16];
        for (float[] row : rows) {
            for (int i = 0; i < row.length; i++) {
                row[i] = random.nextFloat();
            }
        }

        long[] found = Embedding.nearest(rows, rows[7]);

        assertThat(found).hasSize(10).startsWith(7);
        assertThat(found).contains(new ExactSearch(rows).search(rows[7], 3).ids());
    }
}
