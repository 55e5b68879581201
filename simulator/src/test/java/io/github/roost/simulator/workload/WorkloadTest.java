package io.github.roost.simulator.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;

class WorkloadTest {
    static final List<String> BUILT_IN = WorkloadSpec.BUILT_IN;

    @ParameterizedTest
    @FieldSource("BUILT_IN")
    void aBuiltInWorkloadIsReadAsItIsWritten(String name, @TempDir Path folder) throws IOException {
        WorkloadSpec spec = WorkloadSpec.load(name);
        assertThat(spec.name()).isEqualTo(name);
        Path file = Files.writeString(folder.resolve("w.json"), spec.json());
        assertThat(WorkloadSpec.load(file.toString())).isEqualTo(spec);
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"tables\" : 0", "\"leastK\" : 0", "\"trafficSpan\" : 0.5", "\"unheardOf\" : 1"})
    void aWrongDescriptionIsRefusedByName(String wrong, @TempDir Path folder) throws IOException {
        String field = wrong.replaceAll("\"(\\w+)\".*", "$1");
        String json = WorkloadSpec.load("hnsw").json().replaceAll("\"" + field + "\" : [^,\n]*", wrong);
        if (!json.contains(wrong)) {
            json = json.replaceFirst("\\{", "{" + wrong + ",");
        }
        Path file = Files.writeString(folder.resolve("w.json"), json);
        assertThatThrownBy(() -> WorkloadSpec.load(file.toString()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(field);
    }

    @Test
    void trafficSpansWhatTheWorkloadSaysAndTheStreamIsTheSameEveryTime() throws IOException {
        WorkloadSpec spec = WorkloadSpec.load("hnsw");
        QueryStream stream = new QueryStream(spec, 60);
        QueryStream same = new QueryStream(spec, 60);
        int[] searches = new int[60];
        int searched = 2_000_000;
        for (int i = 0; i < searched; i++) {
            stream.next();
            same.next();
            assertThat(same.table()).isEqualTo(stream.table());
            assertThat(same.target()).isEqualTo(stream.target());
            searches[stream.table()]++;
        }
        Arrays.sort(searches);
        assertThat((double) searches[59] / searches[0]).isCloseTo(100, within(10.0));
    }

    @Test
    void aGeometricLawHasNoTableThatStandsOut() throws IOException {
        WorkloadSpec spec = WorkloadSpec.load("paper-hnsw");
        QueryStream stream = new QueryStream(spec, 60);
        int[] searches = new int[60];
        int[] copies = new int[10];
        for (int i = 0; i < 1_000_000; i++) {
            stream.next();
            searches[stream.table()]++;
            copies[stream.copy(10)]++;
        }
        Arrays.sort(searches);
        assertThat((double) searches[59] / searches[0]).isCloseTo(100, within(15.0));
        assertThat((double) searches[59] / searches[58]).isCloseTo(Math.pow(100, 1 / 59.), within(.05));
        assertThat((double) copies[0] / copies[1]).isCloseTo(Math.pow(2, 1.6), within(.1));
    }

    @Test
    void listsOfATableOfFullSizeArePowersOfTwoBetweenTheBounds() throws IOException {
        WorkloadSpec.FullSize size =
                Objects.requireNonNull(WorkloadSpec.load("paper-ivf").fullSize());
        assertThat(size.lists(10_000)).isEqualTo(128);
        assertThat(size.lists(15_000_000)).isEqualTo(8_192);
        assertThat(size.lists(400_000)).isEqualTo(1_024);
    }

    @Test
    void hotTablesCoolDownAsTheWorkloadDrifts() throws IOException {
        WorkloadSpec spec = WorkloadSpec.load("hnsw").withDrift(10_000, 60);
        QueryStream stream = new QueryStream(spec, 60);
        assertThat(hottest(stream)).isNotEqualTo(hottest(stream));
    }

    private static int hottest(QueryStream stream) {
        int[] searches = new int[60];
        for (int i = 0; i < 10_000; i++) {
            stream.next();
            searches[stream.table()]++;
        }
        int hottest = 0;
        for (int table = 1; table < 60; table++) {
            hottest = searches[table] > searches[hottest] ? table : hottest;
        }
        return hottest;
    }

    @Test
    void generatedTablesFillTheBudget() throws IOException {
        WorkloadSpec spec = WorkloadSpec.load("ivf").withBudgetMib(20);
        List<TableSpec> tables = TableSpec.generated(spec);
        long bytes = tables.stream()
                .mapToLong(table -> (long) table.rowCount() * table.dimension() * Float.BYTES)
                .sum();
        assertThat(tables).hasSize(15);
        assertThat(bytes / (double) (20 << 20)).isCloseTo(1, within(.05));
        TableSpec smallest = tables.stream()
                .min((a, b) -> Integer.compare(a.rowCount(), b.rowCount()))
                .orElseThrow();
        assertThat(smallest.made().get().rows())
                .hasNumberOfRows(smallest.rowCount())
                .isDeepEqualTo(smallest.made().get().rows());
    }

    @Test
    void arrivalsOfAnOpenLoopComeAtTheRate() throws IOException {
        QueryStream stream = new QueryStream(WorkloadSpec.load("hnsw").withLoad(1, 1_000), 60);
        double nanos = 0;
        for (int i = 0; i < 100_000; i++) {
            nanos += stream.nanosToNext();
        }
        assertThat(nanos / 1e9).isCloseTo(100, within(2.0));
    }
}
