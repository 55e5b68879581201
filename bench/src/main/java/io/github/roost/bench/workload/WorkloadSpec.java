package io.github.roost.bench.workload;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A workload of many tables, after section III of the paper (Huang et al., 2026): skewed tables, skewed targets, and
 * traffic that drifts. Everything is drawn from the seed, so one description means the same on every machine.
 *
 * @param name shows in reports
 * @param index {@code hnsw} or {@code ivf}
 * @param data {@code mixture} for generated rows, {@code packages} for the Debian packages, one table a section
 * @param tables how many tables, from 1 to 1,000; of the packages the largest sections
 * @param budgetMib size of all generated tables together, in MiB, from 1 to 65,536; ignored for packages
 * @param dimensions of generated tables, taken in turn, each from 1 to 4,096
 * @param trafficSpan traffic of the hottest table over that of the coldest, at least 1
 * @param targets how many different queries a table is asked, from 1 to 100,000
 * @param targetExponent of Zipf's law by which a table's targets are chosen, at least 0
 * @param driftEvery searches from one exchange of hot and cold tables to the next; 0 for none
 * @param driftSwaps pairs of a hot and a cold table that exchange their popularity then
 * @param leastK fewest neighbours that a table is asked for, from 1
 * @param mostK most neighbours that a table is asked for, to 10,000
 * @param efPerK width of an HNSW search for each neighbour wanted, at least 1
 * @param rowsPerList rows of an IVF list on average, from 1
 * @param nprobe lists that an IVF search probes, from 1
 * @param inFlight searches under way at a time in a closed loop, from 1 to 100,000
 * @param perSecond Poisson arrivals a second of an open loop; 0 for a closed one
 * @param seed of everything that is drawn
 * @param popularity by which law tables are more and less popular
 * @param fullSize how large the tables are in truth that are recorded smaller; null where they are recorded as they are
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

    /** What the tables are. */
    public enum Index {
        HNSW,
        IVF
    }

    /** Where the rows come from. */
    public enum Source {
        MIXTURE,
        PACKAGES
    }

    /** By which law tables are popular, from the hottest to the coldest. */
    public enum Popularity {
        /** Zipf's law: the hottest table stands out. */
        ZIPF,
        /** Each table by the same factor colder than the one before: a straight line where traffic is drawn by its logarithm. */
        GEOMETRIC
    }

    /**
     * Tables too large to be built here. A table of full size is laid out as copies of a recorded one side by side; a search
     * stays in one copy, but for the nodes near the entry, which all copies share. For simulations alone.
     *
     * @param leastRows rows of the smallest table, from 1
     * @param mostRows rows of the largest, at most 100 million; sizes between are drawn by their logarithm
     * @param recordedRows rows of the tables that are built and searched, from 1 to 10 million
     * @param copyExponent of Zipf's law by which copies, the regions of a table, are popular, at least 0
     * @param leastLists of IVF tables the lists of a table of {@code leastRows}
     * @param mostLists of IVF tables the lists of a table of {@code mostRows}; between them powers of two by the logarithm of
     *     the rows
     * @param recall for which the width of a search is chosen, measured on the recorded table; over 0, below 1
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
            require("leastRows", leastRows, 1, mostRows);
            require("mostRows", mostRows, leastRows, 100_000_000);
            require("recordedRows", recordedRows, 1, 10_000_000);
            requireAtLeast("copyExponent", copyExponent, 0);
            require("leastLists", leastLists, 1, mostLists);
            require("mostLists", mostLists, leastLists, 131_072);
            if (!(recall > 0 && recall < 1)) {
                throw new IllegalArgumentException("recall must be over 0 and below 1, got " + recall);
            }
        }

        /** Lists of a table of so many rows. */
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
        require("tables", tables, 1, 1_000);
        require("budgetMib", budgetMib, 1, 65_536);
        dimensions.forEach(dimension -> require("dimensions", dimension, 1, 4_096));
        require("targets", targets, 1, 100_000);
        require("driftEvery", driftEvery, 0, Integer.MAX_VALUE);
        require("driftSwaps", driftSwaps, 0, tables);
        require("leastK", leastK, 1, mostK);
        require("mostK", mostK, leastK, 10_000);
        require("rowsPerList", rowsPerList, 1, 1_000_000);
        require("nprobe", nprobe, 1, 131_072);
        require("inFlight", inFlight, 1, 100_000);
        requireAtLeast("trafficSpan", trafficSpan, 1);
        requireAtLeast("targetExponent", targetExponent, 0);
        requireAtLeast("efPerK", efPerK, 1);
        requireAtLeast("perSecond", perSecond, 0);
        if (dimensions.isEmpty()) {
            throw new IllegalArgumentException("dimensions must name at least one, got none");
        }
    }

    private static void require(String what, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(what + " must be between " + least + " and " + most + ", got " + value);
        }
    }

    private static void requireAtLeast(String what, double value, double least) {
        if (!(value >= least && value < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException(what + " must be a number of at least " + least + ", got " + value);
        }
    }

    /**
     * A built-in workload by its name, or one from a JSON file with these fields.
     *
     * @throws IOException if there is neither, or the file is no such description; the message says what is wrong
     */
    public static WorkloadSpec load(String nameOrFile) throws IOException {
        try (InputStream in = open(nameOrFile)) {
            return JSON.readValue(in, WorkloadSpec.class);
        } catch (JsonProcessingException malformed) {
            throw new IOException(nameOrFile + " is no workload: " + reason(malformed), malformed);
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

    /** The same with another number of tables, which together are as large. */
    public WorkloadSpec withTables(int count) {
        return with(fields -> fields.put("tables", count).put("driftSwaps", Math.min(driftSwaps, count)));
    }

    /** The same with another size of all tables together. */
    public WorkloadSpec withBudgetMib(int mib) {
        return with(fields -> fields.put("budgetMib", mib));
    }

    /** The same with another number of searches under way, or in an open loop at a rate where that is over 0. */
    public WorkloadSpec withLoad(int searches, double rate) {
        return with(fields -> fields.put("inFlight", searches).put("perSecond", rate));
    }

    /** The same where so many pairs of tables exchange their popularity every so many searches. */
    public WorkloadSpec withDrift(int every, int swaps) {
        return with(fields -> fields.put("driftEvery", every).put("driftSwaps", swaps));
    }

    /** The same where the hottest table has so many times the traffic of the coldest, by a law. */
    public WorkloadSpec withTableSkew(double span, Popularity law) {
        return with(fields -> fields.put("trafficSpan", span).put("popularity", law.name()));
    }

    /** The same where targets, and of tables of full size their regions, are popular by Zipf's law of an exponent. */
    public WorkloadSpec withQuerySkew(double exponent) {
        return with(fields -> {
            fields.put("targetExponent", exponent);
            if (fields.get("fullSize") instanceof ObjectNode size) {
                size.put("copyExponent", exponent);
            }
        });
    }

    /** The same with other rows of recorded tables and so many targets of each. */
    public WorkloadSpec withRecorded(int rows, int asked) {
        return with(fields -> {
            fields.put("targets", asked);
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

    /** The description as JSON, as {@link #load} reads it. */
    public String json() {
        try {
            return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(this);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
