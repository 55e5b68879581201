package io.github.roost.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.roost.bench.hnsw.FirstSeconds;
import io.github.roost.topology.TopologyReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("stress")
@Tag("nightly")
class BenchCommandTest {
    @Test
    void wideSearchesAreComparedWithTheSumOfTheirScans() throws IOException {
        JsonNode result = figures("fan-out", "--nprobe", "4", "--nlist", "32", "--rounds", "2")
                .at("/results/0");
        assertThat(result.at("/nprobe").asInt()).isEqualTo(4);
        assertThat(result.at("/rows").asDouble()).isBetween(1.0, 20_000.0);
        assertThat(result.at("/ratio/least").asDouble()).isPositive();
    }

    /** The part that runs in a process of its own: an AOT cache needs a class path of jars, which tests do not have. */
    @Test
    void theFirstSecondsOfAProcessAreCounted(@TempDir Path folder) throws IOException {
        Path table = folder.resolve("table.roost");
        FirstSeconds.save(table, TopologyReader.synthetic("pack:1 core:1 pu:1").read(), 500, 8);
        CommandRun run = CommandRun.of(
                "bench", "first-seconds", "--rows", 500, "--dimension", 8, "--seconds", "2", "--table", table);
        assertThat(run.status()).as(run.err()).isZero();
        JsonNode counted = new ObjectMapper().readTree(run.out());
        assertThat(counted.at("/slots")).hasSize(20);
        assertThat(counted.at("/firstMillis").asDouble()).isPositive();
    }

    @Test
    void tablesAreCountedAndComparedWithOtherMaps() throws IOException {
        CommandRun run =
                CommandRun.of("bench", "table", "--count-bits", "12", "--bits", "10", "--rounds", "2", "--json");
        assertThat(run.status()).as(run.err()).isZero();
        JsonNode figures = new ObjectMapper().readTree(run.out());
        assertThat(figures.at("/counts").findValuesAsText("placement")).contains("NeighborHashMap", "linear probing");
        assertThat(figures.at("/lookups").findValuesAsText("name"))
                .contains("NeighborHashMap", "fastutil", "Agrona as it comes", "HPPC", "Eclipse as it comes");
        figures.at("/lookups")
                .forEach(result -> assertThat(result.at("/ratio/least").asDouble())
                        .as(result.toString())
                        .isPositive());
    }

    @Test
    void batchesOfValuesAreComparedWithOtherStores() throws IOException {
        CommandRun run =
                CommandRun.of("bench", "batch", "--rows", "2000", "--keys", "10,50", "--rounds", "1", "--json");
        assertThat(run.status()).as(run.err()).isZero();
        JsonNode figures = new ObjectMapper().readTree(run.out()).at("/batches");
        assertThat(figures.at("/memoryBytes").asLong()).isBetween(2_000_000L, 4_000_000L);
        Map<String, Integer> sizes = new HashMap<>();
        figures.at("/results").forEach(result -> {
            sizes.merge(result.at("/name").asText(), 1, Integer::sum);
            assertThat(result.at("/ratio/least").asDouble())
                    .as(result.toString())
                    .isPositive();
        });
        // Redis takes part where it is installed.
        assertThat(sizes).hasSizeGreaterThanOrEqualTo(5).containsKey("Table.Reader.getAll");
        assertThat(sizes.values()).containsOnly(2);
    }

    @Test
    void rowsAreAddedWhileSearchesGoOn() throws IOException {
        JsonNode result = figures("freshness", "--rounds", "2", "--adds-per-second", "200")
                .at("/result");
        assertThat(result.at("/adds").asLong())
                .isPositive()
                .isEqualTo(result.at("/add/count").asLong());
        assertThat(result.at("/p99Ratio/median").asDouble()).isPositive();
    }

    @Test
    void whatReportingCostsIsMeasuredAlone() {
        CommandRun run = CommandRun.of((Object[]) "bench scheduling --only reporting --rounds 1".split(" "));
        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out()).contains("mean of 10 rounds").doesNotContain("tasks per second");
    }

    @Test
    void aGateWithSeveralWorkersIsMeasuredAlone() throws IOException {
        CommandRun run = CommandRun.of((Object[])
                "bench gate --only workers --flood-machine 2x2 --staying-machine 2x2 --tasks 40 --task-millis 1 --json"
                        .split(" "));
        assertThat(run.status()).as(run.err()).isZero();
        JsonNode figures = new ObjectMapper().readTree(run.out());
        assertThat(figures.at("/floods")).hasSize(3);
        assertThat(figures.at("/floods/0/atOnce").asInt()).isBetween(1, 4);
        assertThat(figures.at("/staying/bursts-of-3/tasks").asInt()).isPositive();
        assertThat(figures.at("/staying/balanced/tasks").asInt()).isPositive();
        assertThat(figures.has("gates")).isFalse();
    }

    @Test
    void updatesOfATableOnDiskAreMeasuredBesideItsSearches() throws IOException {
        CommandRun run =
                CommandRun.of((Object[]) "bench stalls --rows 1000 --rounds 1 --slice-millis 50 --json".split(" "));
        assertThat(run.status()).as(run.err()).isZero();
        JsonNode results = new ObjectMapper().readTree(run.out()).at("/results");
        assertThat(results).hasSize(3);
        assertThat(results.at("/none/0/updatesPerSecond").asDouble()).isZero();
        for (String way : new String[] {"coarse", "split"}) {
            assertThat(results.at("/" + way + "/0/updatesPerSecond").asDouble()).isNotNegative();
            assertThat(results.at("/" + way + "/0/searchesPerSecond").asDouble())
                    .isPositive();
            assertThat(results.at("/" + way + "/0/pruneShare").asDouble()).isBetween(0.0, 1.0);
        }
    }

    @Test
    void tablesOnDiskAreMeasuredBesideJvector() throws IOException {
        CommandRun run = CommandRun.of((Object[])
                "bench disk --rows 2000 --dimension 32 --width 10,40,160 --rounds 1 --slice-millis 50 --peer none --json"
                        .split(" "));
        assertThat(run.status()).as(run.err()).isZero();
        JsonNode curves = new ObjectMapper().readTree(run.out()).at("/curves");
        assertThat(curves).hasSize(2);
        for (JsonNode curve : curves) {
            assertThat(curve.at("/points/2/recall").asDouble()).isGreaterThan(.95);
            assertThat(curve.at("/points/0/rates/0").asDouble()).isPositive();
        }
    }

    @Test
    void allWaysToDoUpdatesAreMeasuredInTurns() throws IOException {
        CommandRun run = CommandRun.of((Object[])
                "bench stalls --ladder --kind both --rows 1000 --rounds 1 --slice-millis 30 --lead-in-millis 10 --target 5,10 --json"
                        .split(" "));
        assertThat(run.status()).as(run.err()).isZero();
        JsonNode results = new ObjectMapper().readTree(run.out()).at("/results");
        assertThat(results).hasSize(14);
        for (JsonNode rung : results) {
            assertThat(rung.at("/0/searchesPerSecond").asDouble()).isPositive();
            assertThat(rung.at("/0/filledShare").asDouble()).isBetween(0.0, 1.0);
        }
        assertThat(results.at("/none/0/updatesPerSecond").asDouble()).isZero();
        assertThat(results.at("/none blocking/0/stalledShare").asDouble())
                .as("a worker that blocks has no stalls")
                .isLessThan(.1);
        assertThat(results.has("idle blocking")).isTrue();
        assertThat(results.has("split tuner 10 %")).isTrue();
    }

    @Test
    void insertsAndDeletesAreMeasuredBesideWorkersThatOnlyUpdate() throws IOException {
        CommandRun run = CommandRun.of((Object[])
                "bench stalls --ladder --kind inserts,deletes --rows 2000 --rounds 1 --slice-millis 50 --lead-in-millis 10 --json"
                        .split(" "));
        assertThat(run.status()).as(run.err()).isZero();
        JsonNode results = new ObjectMapper().readTree(run.out()).at("/results");
        for (String kind : new String[] {"inserts", "deletes"}) {
            for (String way : new String[] {"update workers", "split", "budget", "tuner 5 %", "split tuner 5 %"}) {
                assertThat(results.at("/" + kind + ", " + way + "/0/meanMicros").asDouble())
                        .as(kind + ", " + way)
                        .isPositive();
            }
            assertThat(results.at("/" + kind + ", update workers/0/filledShare").asDouble())
                    .isLessThan(.2);
            JsonNode tables = results.at("/" + kind + ", tables");
            assertThat(tables).isNotEmpty();
            for (JsonNode table : tables) {
                assertThat(table.at("/homes")).isNotEmpty();
                assertThat(table.at("/traffic/codes").asLong()).isPositive();
            }
        }
    }

    @Test
    void splitsOfWorkersAreSimulatedOfRecordedStalls() throws IOException {
        CommandRun run = CommandRun.of((Object[]) "bench stalls --splits --json".split(" "));
        assertThat(run.status()).as(run.err()).isZero();
        JsonNode results = new ObjectMapper().readTree(run.out()).at("/results");
        for (String kind : new String[] {"inserts", "deletes"}) {
            assertThat(results.at("/" + kind)).hasSize(3 * 5 * 2);
            assertThat(results.at("/" + kind + "/28:4, none, steps/besideEmpty").asDouble())
                    .isGreaterThan(results.at("/" + kind + "/4:28, none, steps/besideEmpty")
                            .asDouble());
        }
    }

    @Test
    void randomReadsAreMeasuredBesideAChannel() throws IOException {
        CommandRun run =
                CommandRun.of((Object[]) "bench io --mib 4 --depth 2 --rounds 1 --slice-millis 200 --json".split(" "));
        assertThat(run.status()).as(run.err()).isZero();
        JsonNode results = new ObjectMapper().readTree(run.out()).at("/results");
        assertThat(results).hasSize(5);
        for (JsonNode result : results) {
            assertThat(result.at("/outcome/readsPerSecond/0").asDouble()).isPositive();
            assertThat(result.at("/outcome/cpuMicrosPerRead/0").asDouble()).isPositive();
        }
        assertThat(results.at("/0/readsBesideChannel/median").asDouble()).isEqualTo(1);
        assertThat(results.at("/3/outcome/freeShare/0").asDouble()).isPositive();
    }

    private static JsonNode figures(String bench, Object... options) throws IOException {
        List<Object> line = new ArrayList<>(List.of("bench", bench, "--data", "mixture", "--rows", "20000"));
        line.addAll(List.of("--slice-millis", "50", "--json"));
        line.addAll(List.of(options));
        CommandRun run = CommandRun.of(line.toArray());
        assertThat(run.status()).as(run.err()).isZero();
        return new ObjectMapper().readTree(run.out());
    }

    @Test
    void aShortMixedLoadSaysThatNothingWasLost() {
        CommandRun run = CommandRun.of(
                "bench",
                "live",
                "--seconds",
                "1",
                "--stretches",
                "1",
                "--rows",
                "1000",
                "--dimension",
                "8",
                "--ef",
                "64",
                "--seed",
                "7");
        assertThat(run.status()).isZero();
        assertThat(run.out()).contains("seed 7").contains("nothing lost, recall kept");
    }
}
