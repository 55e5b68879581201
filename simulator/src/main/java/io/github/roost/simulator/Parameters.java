package io.github.roost.simulator;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * The simulator's assumptions about machines and the code that runs on them, with their sources. The defaults are in
 * the resource {@code parameters.json}.
 *
 * @param machines by name
 * @param tasks costs of searches on one core whose data are in the private cache
 * @param sources where each figure comes from, by the figure's name
 */
public record Parameters(Map<String, Machine> machines, Tasks tasks, Map<String, String> sources) {
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
            .build();

    /**
     * A machine.
     *
     * @param description for people
     * @param packages sockets
     * @param domains last-level caches per package
     * @param cores cores per domain
     * @param l2Kib private cache per core
     * @param l3Mib last-level cache per domain
     * @param l3Nanos latency of the last-level cache
     * @param dramNanos latency of memory
     * @param linkGBs bandwidth of a die's link to memory, 10<sup>9</sup> bytes per second
     * @param domainsPerLink domains that share a link
     * @param packageGBs memory bandwidth of a package, 10<sup>9</sup> bytes per second
     * @param computeScale compute time relative to the core on which {@link Tasks} was measured
     */
    public record Machine(
            String description,
            int packages,
            int domains,
            int cores,
            double l2Kib,
            double l3Mib,
            double l3Nanos,
            double dramNanos,
            double linkGBs,
            int domainsPerLink,
            double packageGBs,
            double computeScale) {
        /** Returns a copy with {@code count} domains per package. */
        public Machine withDomains(int count) {
            return new Machine(
                    description,
                    packages,
                    count,
                    cores,
                    l2Kib,
                    l3Mib,
                    l3Nanos,
                    dramNanos,
                    linkGBs,
                    domainsPerLink,
                    packageGBs,
                    computeScale);
        }

        /** Returns a copy with sizes, latencies, bandwidths and compute time multiplied by the factors. */
        public Machine scaled(
                double l2, double l3, double l3Latency, double dram, double link, double memory, double compute) {
            return new Machine(
                    description,
                    packages,
                    domains,
                    cores,
                    l2Kib * l2,
                    l3Mib * l3,
                    l3Nanos * l3Latency,
                    dramNanos * dram,
                    linkGBs * link,
                    domainsPerLink,
                    packageGBs * memory,
                    computeScale * compute);
        }
    }

    /**
     * Costs of searches.
     *
     * @param taskNanos per task, for submitting, running and completing it
     * @param wakeNanos from a submission to the start on a sleeping worker
     * @param forkJoinNanos per parallel region of V0's fork/join, for starting and joining all threads
     * @param lateNanos from the intended time of a search of an open loop to its submission by one thread that sleeps
     *     in between; 0 if searches arrive without such a thread
     * @param hnsw a graph search
     * @param hnswExact a search of a table so small that all its rows are compared
     * @param ivf a search of lists
     */
    public record Tasks(
            double taskNanos,
            double wakeNanos,
            double forkJoinNanos,
            double lateNanos,
            Visits hnsw,
            Visits hnswExact,
            Scans ivf) {
        /** Returns a copy with the cost of merging the lists' results multiplied by {@code factor}. */
        public Tasks withMerging(double factor) {
            return new Tasks(taskNanos, wakeNanos, forkJoinNanos, lateNanos, hnsw, hnswExact, ivf.withMerging(factor));
        }

        /** Returns a copy with costs and lines in flight multiplied by the factors. */
        public Tasks scaled(double task, double wake, double forkJoin, double inFlight) {
            return new Tasks(
                    taskNanos * task,
                    wakeNanos * wake,
                    forkJoinNanos * forkJoin,
                    lateNanos,
                    hnsw.with(hnsw.linesInFlight.times(inFlight)),
                    hnswExact.with(hnswExact.linesInFlight.times(inFlight)),
                    ivf.with(ivf.linesInFlight.times(inFlight)));
        }
    }

    /**
     * Compute costs of a search that visits nodes.
     *
     * @param searchNanos per search
     * @param itemNanos per node
     * @param lineNanos per cache line of a node
     * @param resultNanos per node in the result (at most ef): expanding, sorting and returning it
     * @param replacedNanos per node that enters the nearest so far and displaces another
     * @param linesInFlight cache lines fetched at the same time
     */
    public record Visits(
            double searchNanos,
            double itemNanos,
            double lineNanos,
            double resultNanos,
            double replacedNanos,
            LinesInFlight linesInFlight) {
        Visits with(LinesInFlight other) {
            return new Visits(searchNanos, itemNanos, lineNanos, resultNanos, replacedNanos, other);
        }
    }

    /**
     * Compute costs of a search of lists.
     *
     * @param searchNanos per search
     * @param resultNanos per row that the scans return: keeping and sorting it
     * @param pairNanos per list, whatever its length
     * @param heldNanos per row in the collector, each time that a scan borrows it or gives it back
     * @param replacedNanos per row that enters the nearest so far and displaces another
     * @param linesInFlight cache lines fetched at the same time
     * @param groups costs of rows compared with several queries at once, by ascending group size, the first of size 1
     */
    public record Scans(
            double searchNanos,
            double resultNanos,
            double pairNanos,
            double heldNanos,
            double replacedNanos,
            LinesInFlight linesInFlight,
            List<Group> groups) {
        private Scans withMerging(double factor) {
            return new Scans(
                    searchNanos, resultNanos * factor, pairNanos, heldNanos, replacedNanos, linesInFlight, groups);
        }

        Scans with(LinesInFlight other) {
            return new Scans(searchNanos, resultNanos, pairNanos, heldNanos, replacedNanos, other, groups);
        }

        /** Cost per query of comparing a row of {@code lines} lines in a group; linear between measured sizes. */
        double rowNanos(double lines, int queries) {
            int above = 0;
            while (above < groups.size() - 1 && groups.get(above).size() < queries) {
                above++;
            }
            Group high = groups.get(above);
            if (queries >= high.size() || above == 0) {
                return high.of(lines);
            }
            Group low = groups.get(above - 1);
            double share = (double) (queries - low.size()) / (high.size() - low.size());
            return low.of(lines) + share * (high.of(lines) - low.of(lines));
        }
    }

    /**
     * Memory-level parallelism: a line costs its latency divided by this.
     *
     * @param l3 from the last-level cache
     * @param dram from memory
     */
    public record LinesInFlight(double l3, double dram) {
        private LinesInFlight times(double factor) {
            return new LinesInFlight(l3 * factor, dram * factor);
        }
    }

    /**
     * Costs of comparisons per query of a group.
     *
     * @param size queries of the group
     * @param rowNanos per row
     * @param lineNanos per cache line of a row
     */
    public record Group(int size, double rowNanos, double lineNanos) {
        private double of(double lines) {
            return rowNanos + lines * lineNanos;
        }
    }

    /** The built-in parameters. */
    public static Parameters builtIn() {
        try (InputStream in = Parameters.class.getResourceAsStream("parameters.json")) {
            return JSON.readValue(in, Parameters.class);
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
    }

    /**
     * Reads parameters from a JSON file.
     *
     * @throws IOException if it cannot be read or is invalid
     */
    public static Parameters read(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return JSON.readValue(in, Parameters.class);
        } catch (com.fasterxml.jackson.core.JsonProcessingException malformed) {
            throw new IOException(file + " holds no parameters: " + malformed.getOriginalMessage(), malformed);
        }
    }

    /**
     * Returns a machine by its name.
     *
     * @throws IllegalArgumentException if there is none of that name
     */
    public Machine machine(String name) {
        Machine machine = machines.get(name);
        if (machine == null) {
            throw new IllegalArgumentException("machine must be one of " + machines.keySet() + ", got " + name);
        }
        return machine;
    }

    /** One assumption that can be varied: applies a factor to it in a machine and its tasks. */
    public record Knob(String name, Change change) {
        /** Creates a variant. */
        public interface Change {
            Variant times(Machine machine, Tasks tasks, double factor);
        }
    }

    /** A machine and the costs of tasks on it. */
    public record Variant(Machine machine, Tasks tasks) {}

    /** All assumptions that a sensitivity analysis varies one at a time. */
    public static List<Knob> knobs() {
        return List.of(
                machineKnob("private L2 size", f -> m -> m.scaled(f, 1, 1, 1, 1, 1, 1)),
                machineKnob("L3 size", f -> m -> m.scaled(1, f, 1, 1, 1, 1, 1)),
                machineKnob("L3 latency", f -> m -> m.scaled(1, 1, f, 1, 1, 1, 1)),
                machineKnob("DRAM latency", f -> m -> m.scaled(1, 1, 1, f, 1, 1, 1)),
                machineKnob("bandwidth of a link", f -> m -> m.scaled(1, 1, 1, 1, f, 1, 1)),
                machineKnob("bandwidth of memory", f -> m -> m.scaled(1, 1, 1, 1, 1, f, 1)),
                machineKnob("computing", f -> m -> m.scaled(1, 1, 1, 1, 1, 1, f)),
                taskKnob("lines in flight", f -> t -> t.scaled(1, 1, 1, f)),
                taskKnob("cost of a task", f -> t -> t.scaled(f, 1, 1, 1)),
                taskKnob("wake-up", f -> t -> t.scaled(1, f, 1, 1)),
                taskKnob("fork and join", f -> t -> t.scaled(1, 1, f, 1)));
    }

    private interface ByFactor<T> {
        UnaryOperator<T> of(double factor);
    }

    private static Knob machineKnob(String name, ByFactor<Machine> change) {
        return new Knob(
                name, (machine, tasks, factor) -> new Variant(change.of(factor).apply(machine), tasks));
    }

    private static Knob taskKnob(String name, ByFactor<Tasks> change) {
        return new Knob(
                name,
                (machine, tasks, factor) ->
                        new Variant(machine, change.of(factor).apply(tasks)));
    }

    /** Returns a copy with one machine added, and these costs of tasks. */
    public Parameters with(String name, Machine machine, Tasks measured) {
        Map<String, Machine> all = new LinkedHashMap<>(machines);
        all.put(name, machine);
        return new Parameters(all, measured, sources);
    }

    /** These parameters as JSON, readable by {@link #read}. */
    public String json() {
        try {
            return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(this);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }
}
