package io.github.roost.simulator.workload;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.roost.core.MappingId;
import io.github.roost.vector.Vectors;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A workload of many tables, after section III of the paper (Huang et al., 2026): skewed tables, skewed targets, and traffic that drifts. Everything
 * is drawn from the seed, so a spec means the same on every machine.
 *
 * @param name shown in reports
 * @param index {@code hnsw} or {@code ivf}
 * @param data {@code mixture} for generated rows, {@code packages} for the Debian packages, one table per section
 * @param tables number of tables, from 1 to 1,000; for packages the largest sections
 * @param budgetMib total size of the generated tables in MiB, from 1 to 65,536; ignored for packages
 * @param dimensions of generated tables, taken in turn, each from 1 to 4,096
 * @param trafficSpan ratio of the traffic of the hottest table to that of the coldest, at least 1
 * @param targets distinct queries per table, from 1 to 100,000
 * @param targetExponent Zipf exponent of the popularity of a table's targets, at least 0
 * @param driftEvery searches between two swaps of hot and cold tables; 0 for none
 * @param driftSwaps pairs of a hot and a cold table that swap their popularity each time
 * @param leastK min k of a table, from 1
 * @param mostK max k of a table, to 10,000
 * @param efPerK ef of an HNSW search per wanted neighbor, at least 1
 * @param rowsPerList mean rows per IVF list, from 1
 * @param nprobe lists that an IVF search probes, from 1
 * @param inFlight searches in flight in a closed loop, from 1 to 100,000
 * @param perSecond Poisson arrivals per second of an open loop; 0 for a closed loop
 * @param seed of everything that is drawn
 * @param popularity law of the popularity of tables
 * @param fullSize simulated sizes of tables that are recorded at a smaller size; null if tables are recorded at their own size
 */
public record WorkloadSpec(
        String name,
        Index index,
        Source data,
        int tables,
        int budgetMib,
        List<Integer> dimensions,
        double trafficSpan,
        int targets,
        double targetExponent,
        int driftEvery,
        int driftSwaps,
        int leastK,
        int mostK,
        double efPerK,
        int rowsPerList,
        int nprobe,
        int inFlight,
        double perSecond,
        long seed,
        Popularity popularity,
        @Nullable FullSize fullSize) {
    /** Workloads that need no file. */
    public static final List<String> BUILT_IN =
            List.of("hnsw", "ivf", "packages-hnsw", "packages-ivf", "paper-hnsw", "paper-ivf");

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(MapperFeature.ACCEPT_CASE_INSENSITIVE_ENUMS)
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
            .build();

    /** The type of the tables. */
    public enum Index {
        HNSW,
        IVF
    }

    /** The source of the rows. */
    public enum Source {
        MIXTURE,
        PACKAGES
    }

    /** The law of the tables' popularity, from the hottest to the coldest. */
    public enum Popularity {
        /** Zipf's law: the hottest table stands out. */
        ZIPF,
        /** Each table is colder than the previous one by the same factor: a straight line on a logarithmic scale of traffic. */
        GEOMETRIC
    }

    /**
     * Tables too large to be built here. A table of full size is laid out as copies of a recorded table side by side; a search stays in one copy,
     * except for the nodes near the entry point, which all copies share. For simulations only.
     *
     * @param leastRows rows of the smallest table, from 1
     * @param mostRows rows of the largest table, at most 100 million; sizes in between are log-uniform
     * @param recordedRows rows of the tables that are built and searched, from 1 to 10 million
     * @param copyExponent Zipf exponent of the popularity of copies, which are the regions of a table, at least 0
     * @param leastLists lists of an IVF table of {@code leastRows}
     * @param mostLists lists of an IVF table of {@code mostRows}; in between powers of two, interpolated by the logarithm of the rows
     * @param recall for which ef or nprobe is chosen, measured on the recorded table; between 0 and 1, both exclusive
     */
    public record FullSize(
            int leastRows,
            int mostRows,
            int recordedRows,
            double copyExponent,
            int leastLists,
            int mostLists,
            double recall) {
        public FullSize {
            Vectors.requireRange("leastRows", leastRows, 1, mostRows);
            Vectors.requireRange("mostRows", mostRows, leastRows, 100_000_000);
            Vectors.requireRange("recordedRows", recordedRows, 1, 10_000_000);
            requireAtLeast("copyExponent", copyExponent, 0);
            Vectors.requireRange("leastLists", leastLists, 1, mostLists);
            Vectors.requireRange("mostLists", mostLists, leastLists, MappingId.MAX_PER_ORCHESTRATOR);
            if (!(recall > 0 && recall < 1)) {
                throw new IllegalArgumentException("recall must be over 0 and below 1, got " + recall);
            }
        }

        /** The number of lists of a table of {@code rows} rows. */
        public int lists(long rows) {
            if (leastRows == mostRows) {
                return leastLists;
            }
            double share = Math.log((double) rows / leastRows) / Math.log((double) mostRows / leastRows);
            double exact = leastLists * Math.pow((double) mostLists / leastLists, share);
            return Math.clamp(1L << Math.round(Math.log(exact) / Math.log(2)), leastLists, mostLists);
        }
    }

    public WorkloadSpec {
        dimensions = List.copyOf(dimensions);
        Vectors.requireRange("tables", tables, 1, 1_000);
        Vectors.requireRange("budgetMib", budgetMib, 1, 65_536);
        dimensions.forEach(dimension -> Vectors.requireRange("dimensions", dimension, 1, 4_096));
        Vectors.requireRange("targets", targets, 1, 100_000);
        Vectors.requireRange("driftEvery", driftEvery, 0, Integer.MAX_VALUE);
        Vectors.requireRange("driftSwaps", driftSwaps, 0, tables);
        Vectors.requireRange("leastK", leastK, 1, mostK);
        Vectors.requireRange("mostK", mostK, leastK, 10_000);
        Vectors.requireRange("rowsPerList", rowsPerList, 1, 1_000_000);
        Vectors.requireRange("nprobe", nprobe, 1, MappingId.MAX_PER_ORCHESTRATOR);
        Vectors.requireRange("inFlight", inFlight, 1, 100_000);
        requireAtLeast("trafficSpan", trafficSpan, 1);
        requireAtLeast("targetExponent", targetExponent, 0);
        requireAtLeast("efPerK", efPerK, 1);
        requireAtLeast("perSecond", perSecond, 0);
        if (dimensions.isEmpty()) {
            throw new IllegalArgumentException("dimensions must have at least one value, got none");
        }
    }

    private static void requireAtLeast(String what, double value, double min) {
        if (!(value >= min && value < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException(what + " must be a number of at least " + min + ", got " + value);
        }
    }

    /**
     * Loads a built-in workload by its name, or a workload from a JSON file with these fields.
     *
     * @throws IOException if there is no such workload or file, or the file is invalid; the message says why
     */
    public static WorkloadSpec load(String nameOrFile) throws IOException {
        try (InputStream in = open(nameOrFile)) {
            return JSON.readValue(in, WorkloadSpec.class);
        } catch (JsonProcessingException malformed) {
            throw new IOException(nameOrFile + " is not a workload: " + reason(malformed), malformed);
        }
    }

    private static String reason(JsonProcessingException malformed) {
        Throwable cause = malformed.getCause();
        return cause instanceof IllegalArgumentException
                ? String.valueOf(cause.getMessage())
                : malformed.getOriginalMessage();
    }

    private static InputStream open(String nameOrFile) throws IOException {
        if (BUILT_IN.contains(nameOrFile)) {
            @Nullable InputStream builtIn = WorkloadSpec.class.getResourceAsStream(nameOrFile + ".json");
            if (builtIn != null) {
                return builtIn;
            }
        }
        Path file = Path.of(nameOrFile);
        if (!Files.isRegularFile(file)) {
            throw new FileNotFoundException(
                    "workload must be one of " + BUILT_IN + " or a JSON file, got " + nameOrFile);
        }
        return Files.newInputStream(file);
    }

    /** Returns a copy with another number of tables, of the same total size. */
    public WorkloadSpec withTables(int count) {
        return with(fields -> fields.put("tables", count).put("driftSwaps", Math.min(driftSwaps, count)));
    }

    /** Returns a copy with another total size of the tables. */
    public WorkloadSpec withBudgetMib(int mib) {
        return with(fields -> fields.put("budgetMib", mib));
    }

    /** Returns a copy with another number of searches in flight, or, if {@code rate} is over 0, with an open loop at that rate. */
    public WorkloadSpec withLoad(int searches, double rate) {
        return with(fields -> fields.put("inFlight", searches).put("perSecond", rate));
    }

    /** Returns a copy in which {@code swaps} pairs of tables swap their popularity every {@code every} searches. */
    public WorkloadSpec withDrift(int every, int swaps) {
        return with(fields -> fields.put("driftEvery", every).put("driftSwaps", swaps));
    }

    /** Returns a copy in which the hottest table has {@code span} times the traffic of the coldest, by the given law. */
    public WorkloadSpec withTableSkew(double span, Popularity law) {
        return with(fields -> fields.put("trafficSpan", span).put("popularity", law.name()));
    }

    /** Returns a copy with another Zipf exponent of targets, and for tables of full size also of copies. */
    public WorkloadSpec withQuerySkew(double exponent) {
        return with(fields -> {
            fields.put("targetExponent", exponent);
            if (fields.get("fullSize") instanceof ObjectNode size) {
                size.put("copyExponent", exponent);
            }
        });
    }

    /** Returns a copy with other rows per recorded table and another number of targets per table. */
    public WorkloadSpec withRecorded(int rows, int requested) {
        return with(fields -> {
            fields.put("targets", requested);
            if (fields.get("fullSize") instanceof ObjectNode size) {
                size.put("recordedRows", rows);
            }
        });
    }

    private WorkloadSpec with(Consumer<ObjectNode> change) {
        ObjectNode fields = JSON.valueToTree(this);
        change.accept(fields);
        try {
            return JSON.treeToValue(fields, WorkloadSpec.class);
        } catch (JsonProcessingException outOfRange) {
            throw new IllegalArgumentException(reason(outOfRange), outOfRange);
        }
    }

    /** This spec as JSON, readable by {@link #load}. */
    public String json() {
        try {
            return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(this);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
