package io.github.roost.bench.sim;

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
 * Everything that is assumed about a machine and the code that runs on it, with where it is known from. The file beside
 * this class holds all of it.
 *
 * @param machines by name
 * @param tasks what searches cost on one core where their data are in the private cache
 * @param sources where each figure is from, by its name
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
     * @param domains last-level caches of a package
     * @param cores cores of a domain
     * @param l2Kib private cache of a core
     * @param l3Mib last-level cache of a domain
     * @param l3Nanos latency of it
     * @param dramNanos latency of memory
     * @param linkGBs what the link of a die to memory moves, 10<sup>9</sup> bytes per second
     * @param domainsPerLink domains that share a link
     * @param packageGBs what the memory of a package delivers
     * @param computeScale how much longer computing takes than on the core that {@link Tasks} was measured on
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
        /** The first so many domains of every package. */
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

        /** The same with sizes, latencies, bandwidths and the time to compute so many times as large. */
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
     * What searches cost.
     *
     * @param taskNanos of every task, for submitting, running and completing it
     * @param wakeNanos from a submission to the start on a worker that sleeps
     * @param forkJoinNanos of every parallel region of V0's fork/join, for starting and joining all threads
     * @param lateNanos from the intended time of a search of an open loop to its submission by one thread that sleeps in
     *     between; 0 where searches arrive by themselves
     * @param hnsw a walk through a graph
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
        /** The same where to merge what lists had costs so many times as much. */
        public Tasks withMerging(double factor) {
            return new Tasks(taskNanos, wakeNanos, forkJoinNanos, lateNanos, hnsw, hnswExact, ivf.withMerging(factor));
        }

        /** The same with costs, and with cache lines fetched at the same time, so many times as large. */
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
     * What a search computes that visits nodes.
     *
     * @param searchNanos for the search as such
     * @param itemNanos for each node
     * @param lineNanos for each cache line of it
     * @param resultNanos for each node that the search finds (its width): to go on from it, to sort it, to hand it over
     * @param replacedNanos for each node that comes among the nearest so far and is displaced by a nearer one
     * @param linesInFlight how many cache lines are fetched at the same time
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
     * What a search of lists computes.
     *
     * @param searchNanos for the search as such
     * @param resultNanos for each row that the scans hand over: to keep it, to sort it
     * @param pairNanos for each list, whatever its length
     * @param heldNanos for each row found so far, whenever a scan takes it over or gives it back
     * @param replacedNanos for each row that comes among the nearest so far and is displaced by a nearer one
     * @param linesInFlight how many cache lines are fetched at the same time
     * @param groups what rows cost that are compared with so many queries at once, by ascending size, the first 1
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

        /** What comparing a row of so many lines costs each query of a group; between measured sizes in proportion. */
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
     * Memory-level parallelism: what of its latency a line costs is one part in so many.
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
     * What comparing costs each query of a group.
     *
     * @param size queries
     * @param rowNanos for each row
     * @param lineNanos for each cache line of it
     */
    public record Group(int size, double rowNanos, double lineNanos) {
        private double of(double lines) {
            return rowNanos + lines * lineNanos;
        }
    }

    /** The parameters that come with Roost. */
    public static Parameters builtIn() {
        try (InputStream in = Parameters.class.getResourceAsStream("parameters.json")) {
            return JSON.readValue(in, Parameters.class);
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
    }

    /**
     * Parameters from a file of the same form.
     *
     * @throws IOException if it cannot be read or is no such file
     */
    public static Parameters read(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return JSON.readValue(in, Parameters.class);
        } catch (com.fasterxml.jackson.core.JsonProcessingException malformed) {
            throw new IOException(file + " holds no parameters: " + malformed.getOriginalMessage(), malformed);
        }
    }

    /** A machine by its name. */
    public Machine machine(String name) {
        Machine machine = machines.get(name);
        if (machine == null) {
            throw new IllegalArgumentException("machine must be one of " + machines.keySet() + ", got " + name);
        }
        return machine;
    }

    /** One assumption that may be varied: what a machine and the tasks become when it is so many times as large. */
    public record Knob(String name, Change change) {
        /** Makes a variant. */
        public interface Change {
            Variant times(Machine machine, Tasks tasks, double factor);
        }
    }

    /** A machine and tasks to run on it. */
    public record Variant(Machine machine, Tasks tasks) {}

    /** All that is assumed, to be halved and doubled one at a time. */
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

    /** These parameters with one machine more. */
    public Parameters with(String name, Machine machine, Tasks measured) {
        Map<String, Machine> all = new LinkedHashMap<>(machines);
        all.put(name, machine);
        return new Parameters(all, measured, sources);
    }

    /** As {@link #read} reads it. */
    public String json() {
        try {
            return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(this);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }
}
