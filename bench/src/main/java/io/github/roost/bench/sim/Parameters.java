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
     * @param linkGBs what the link of a die to memory moves, 10<sup>9</sup> bytes a second
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

        Machine with(double l2, double l3, double l3Latency, double dram, double link, double memory, double compute) {
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
     * @param hnsw a walk, a node of the graph at a time
     * @param ivf a scan, a block of rows at a time
     * @param groupedResultNanos computing for each neighbour that a query of a group wants, in place of {@link
     *     Kind#resultNanos}
     * @param groupedLine what a cache line costs each further query of a group, as part of what it costs the first
     */
    public record Tasks(
            double taskNanos,
            double wakeNanos,
            double forkJoinNanos,
            Kind hnsw,
            Kind ivf,
            double groupedResultNanos,
            double groupedLine) {}

    /**
     * What reading costs one kind of search.
     *
     * @param itemNanos computing for each node or block, whatever its size
     * @param lineNanos computing for each cache line of it
     * @param linesInFlight cache lines that are fetched at the same time: memory-level parallelism
     * @param resultNanos computing for each neighbour wanted: keeping the nearest so far, sorting and handing them over
     */
    public record Kind(double itemNanos, double lineNanos, double linesInFlight, double resultNanos) {
        Kind withLinesInFlight(double factor) {
            return new Kind(itemNanos, lineNanos, linesInFlight * factor, resultNanos);
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
                machineKnob("private L2 size", f -> m -> m.with(f, 1, 1, 1, 1, 1, 1)),
                machineKnob("L3 size", f -> m -> m.with(1, f, 1, 1, 1, 1, 1)),
                machineKnob("L3 latency", f -> m -> m.with(1, 1, f, 1, 1, 1, 1)),
                machineKnob("DRAM latency", f -> m -> m.with(1, 1, 1, f, 1, 1, 1)),
                machineKnob("bandwidth of a link", f -> m -> m.with(1, 1, 1, 1, f, 1, 1)),
                machineKnob("bandwidth of memory", f -> m -> m.with(1, 1, 1, 1, 1, f, 1)),
                machineKnob("computing", f -> m -> m.with(1, 1, 1, 1, 1, 1, f)),
                taskKnob(
                        "lines in flight",
                        f -> t -> new Tasks(
                                t.taskNanos,
                                t.wakeNanos,
                                t.forkJoinNanos,
                                t.hnsw.withLinesInFlight(f),
                                t.ivf.withLinesInFlight(f),
                                t.groupedResultNanos,
                                t.groupedLine)),
                taskKnob(
                        "cost of a task",
                        f -> t -> new Tasks(
                                t.taskNanos * f,
                                t.wakeNanos,
                                t.forkJoinNanos,
                                t.hnsw,
                                t.ivf,
                                t.groupedResultNanos,
                                t.groupedLine)),
                taskKnob(
                        "wake-up",
                        f -> t -> new Tasks(
                                t.taskNanos,
                                t.wakeNanos * f,
                                t.forkJoinNanos,
                                t.hnsw,
                                t.ivf,
                                t.groupedResultNanos,
                                t.groupedLine)),
                taskKnob(
                        "fork and join",
                        f -> t -> new Tasks(
                                t.taskNanos,
                                t.wakeNanos,
                                t.forkJoinNanos * f,
                                t.hnsw,
                                t.ivf,
                                t.groupedResultNanos,
                                t.groupedLine)));
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
