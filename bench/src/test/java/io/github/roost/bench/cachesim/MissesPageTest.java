package io.github.roost.bench.cachesim;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.bench.cachesim.GuestJvm.Counted;
import io.github.roost.bench.cachesim.Section.Domain;
import io.github.roost.bench.cachesim.Section.L3;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MissesPageTest {
    private @TempDir Path folder;

    /** Two domains with the given misses per search, in L3s of 8 and 2 MiB. */
    private static Counted counted(int large, int small) {
        List<L3> l3 = List.of(new L3(8 << 20, 7, 0, 100L * large, 0), new L3(2 << 20, 5, 50, 100L * small - 50, 0));
        return new Counted(
                new Section(0, List.of(new Domain(0, 9, 8, 0, l3), new Domain(1, 9, 8, 0, l3))),
                new Guest.Scheduled(100, 30, 10, 2, 100_000));
    }

    private static Outcome outcome(int misses) {
        Map<String, List<Counted>> runs = new LinkedHashMap<>();
        runs.put("v1", List.of(counted(1_000, 2_000), counted(1_200, 2_000)));
        runs.put("roost", List.of(counted(misses, misses), counted(misses, misses)));
        Map<String, List<Double>> simulated = new LinkedHashMap<>();
        simulated.put("v1", List.of(2_000.0, 8_000.0));
        simulated.put("roost", List.of(900.0, 2_000.0));
        return new Outcome("hnsw, 2 domains", 2, 32 << 20, 100, runs, simulated);
    }

    @Test
    void anOutcomeHasARowPerSizeTheSmallestFirstWithTheRatioToTheFirstPolicy() {
        assertThat(outcome(550).text())
                .contains("""
                        hnsw, 2 domains; 32 MiB of tables:

                        | L3s, MiB; of the tables | v1, misses/search | roost, misses/search |
                        | --- | ---: | ---: |
                        | 2 x 2; 0.13 | 4,000 (4,000 to 4,000) | 1,100 (1,100 to 1,100); 0.28 |
                        | 2 x 8; 0.50 | 2,200 (2,000 to 2,400) | 1,100 (1,100 to 1,100); 0.50 |
                        """, "| v1 | 30.0 % | 10.0 % | 2 | 0 | 1,000 to 1,200 | 0 | 1.00 | 0 |", """
                        | 2 x 2; 0.13 | 8,000 | 2,000; 0.25, 0.91 of the counted ratio |
                        | 2 x 8; 0.50 | 2,000 | 900; 0.45, 0.90 of the counted ratio |
                        """);
    }

    @Test
    void aPageHasTheLatestRunOfEachCommandWithItsCountsAndPictures() throws Exception {
        Path page = folder.resolve("misses.md");
        MissesPage.write(page, new MissesPage.Run("./roost one", "here", List.of(outcome(10))));
        MissesPage.write(page, new MissesPage.Run("./roost two", "here", List.of(outcome(20), outcome(30))));
        MissesPage.write(page, new MissesPage.Run("./roost one", "here", List.of(outcome(40))));

        assertThat(Files.readString(page))
                .contains("## `./roost two`", "## `./roost one`", "`misses.json`", "; 0.02 |", "(misses-3.svg)")
                .doesNotContain("| 20 (20 to 20)")
                .containsOnlyOnce("./roost one");
        assertThat(folder.resolve("misses-3.svg")).content().contains("<svg");
        assertThat(folder.resolve("misses.json")).content().contains("\"capacity\":4000");
    }
}
