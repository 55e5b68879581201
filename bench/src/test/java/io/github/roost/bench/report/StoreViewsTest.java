package io.github.roost.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class StoreViewsTest {
    private static JsonNode json(String text) throws IOException {
        return new ObjectMapper().readTree(text);
    }

    @Test
    void lookupsStandBelowTheLinesThatTheyRead() throws IOException {
        JsonNode run = json("""
                {"counts": [{"placement": "linear probing", "slotBits": 20, "lines": 1.4712, "paper": 1.47}],
                 "lookups": [{"name": "HashMap", "slotBits": 14,
                              "lookups": {"least": 9.0, "median": 10.04, "most": 11.0},
                              "ratio": {"least": 2.0, "median": 2.5, "most": 3.0}}]}
                """);

        assertThat(StoreViews.table(run).toString())
                .contains("| linear probing, 2^20 | 1.471 | 1.47 |")
                .contains("| HashMap, 2^14 | 10.0 (9.0 to 11.0) | 2.50 (2.00 to 3.00) |");
    }

    @Test
    void aStoreThatIsNotInstalledIsSaidToBeLeftOut() throws IOException {
        JsonNode run = json("""
                {"batches": {"rows": 2000, "hasRedis": false, "results": [
                   {"name": "fastutil", "batch": 10, "micros": {"least": 0.5, "median": 0.57, "most": 0.6},
                    "ratio": {"least": 0.4, "median": 0.47, "most": 0.5}}]}}
                """);

        assertThat(StoreViews.batch(run).toString())
                .contains("2,000 values of 1 KB; Redis is not installed, and left out.")
                .contains("| 10, fastutil | 0.6 (0.5 to 0.6) | 0.47 (0.40 to 0.50) |");
    }

    @Test
    void searchesBesideUpdatesAreComparedRoundByRound() throws IOException {
        JsonNode run = json("""
                {"results": {
                   "none": [{"searchesPerSecond": 100, "p50us": 10, "p99us": 20, "updatesPerSecond": 0},
                            {"searchesPerSecond": 200, "p50us": 10, "p99us": 20, "updatesPerSecond": 0}],
                   "split": [{"searchesPerSecond": 50, "p50us": 11, "p99us": 21, "updatesPerSecond": 7},
                             {"searchesPerSecond": 180, "p50us": 13, "p99us": 23, "updatesPerSecond": 9}]}}
                """);

        assertThat(StoreViews.stalls(run).toString())
                .contains("| split | 115 (50 to 180) | 0.70 (0.50 to 0.90) | 12 | 22 | 8 (7 to 9) |");
    }

    @Test
    void readsAreComparedWithTheChannelOfTheSameDepth() throws IOException {
        JsonNode run = json("""
                {"results": [{"outcome": {"way": "RING", "depth": 4, "readsPerSecond": [1000, 3000],
                                          "cpuMicrosPerRead": [1.0, 3.0], "freeShare": []},
                              "readsBesideChannel": {"least": 0.9, "median": 1.0, "most": 1.1},
                              "cpuBesideChannel": {"least": 0.1, "median": 0.2, "most": 0.3}}]}
                """);

        assertThat(StoreViews.io(run).toString())
                .contains("| 4, ring | 2,000 (1,000 to 3,000) | 1.00 (0.90 to 1.10) | 2.0 | 0.20 (0.10 to 0.30) |");
    }

    @Test
    void aRemoteBatchIsComparedWithEachQueryByItself() throws IOException {
        JsonNode run = json("""
                {"results": {"counts": {"naive": 600, "union": 8, "reads": 8, "doorbells": 3},
                   "times": [{"seconds": 0.01, "cachedSeconds": 0.005, "naiveSeconds": 1.0}],
                   "found": [{"visited": 0, "recall": 0.99, "queriesPerSecond": 5000},
                             {"visited": 3, "recall": 0.9, "queriesPerSecond": 9000}],
                   "cached": [{"share": 0.02, "reads": 39, "seconds": 0.112}],
                   "modeled": {"overlap": {"fetchNanos": 2000000, "searchNanos": 85000000, "bothNanos": 85500000},
                                "smallTogetherMicros": 30.6, "smallSingleMicros": 508.2,
                                "imagesTogetherMicros": 1158.2, "imagesSingleMicros": 1194.2},
                   "shipping": {"partitionBytes": 901696, "queryBytes": 632, "queriesPerPartition": 250.0,
                                "breakEven": 1426.7, "oneSidedGigabytes": 4.36, "twoSidedGigabytes": 0.24},
                   "inserting": [{"readOnlySeconds": 0.1, "insertingSeconds": 0.125, "inserts": 20},
                                 {"readOnlySeconds": 0.1, "insertingSeconds": 0.1, "inserts": 18}]}}
                """);

        assertThat(StoreViews.remote(run).toString())
                .contains("A batch reads 8 partitions by 3 doorbells, where each query by itself would read 600.")
                .contains("| each query by itself, from the first queries | 1,000 (1,000 to 1,000) | 100.00")
                .contains("| one graph of all rows | 0.9900 | 5,000 |", "| 3 | 0.9000 | 9,000 |")
                .contains("| 2.0 % | 39 | 112 |")
                .contains("fetches take 2.0 ms, searches 85.0 ms, both 85.5 ms: 75.0 % of the fetch time is hidden.")
                .contains("take 31 us with one doorbell and 508 us one by one; 16 partitions 1,158 and 1,194 us.")
                .contains("A fetch moves 901,696 bytes, a query and its answer 632.")
                .contains("from 1,427 queries per partition on, here there are 250.")
                .contains("read at 4.36 GB/s", "arrive at 0.24 GB/s if requested over gRPC.")
                .contains("with 19 (18 to 20) rows inserted during a batch, over those without: 0.90 (0.80 to 1.00).");
        assertThat(StoreViews.remote(json("{\"results\": {\"times\": [{\"seconds\": 1}]}}"))
                        .toString())
                .contains("No rows were inserted: the pool is read-only.");
    }
}
