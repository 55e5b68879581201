package io.github.roost.examples.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AllCommandTest {
    @Test
    void aPartThatIsThereIsNotRunAgain(@TempDir Path folder) throws Exception {
        Path part = folder.resolve("bench-locality.txt");
        Files.writeString(part, "ratio < 1 & more");
        CommandRun run = CommandRun.of("bench", "all", "--out", folder.toString(), "--only", "locality");
        assertThat(run.status()).isZero();
        assertThat(Files.readString(part)).isEqualTo("ratio < 1 & more");
        assertThat(Files.readString(folder.resolve("index.html")))
                .contains("./roost bench locality")
                .contains("ratio &lt; 1 &amp; more");
        assertThat(Files.readString(folder.resolve("results.json"))).contains("\"machine\"", "ratio < 1 & more");
    }
}
