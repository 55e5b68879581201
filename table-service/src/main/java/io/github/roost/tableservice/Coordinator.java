package io.github.roost.tableservice;

import io.github.roost.tableservice.OrderWire.Kind;
import io.github.roost.tableservice.OrderWire.Order;
import io.github.roost.tableservice.OrderWire.Report;
import io.github.roost.tableservice.Registry.Announced;
import io.github.roost.tableservice.RollingUpdate.Step;
import io.github.roost.tableservice.RollingUpdate.Target;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Rolls versions of one table out over servers of any processes: takes charge, announces the version, and does the steps of
 * {@link RollingUpdate} until all servers have it. It keeps nothing that cannot be seen: if its process ends, another one goes on. For
 * one thread at a time.
 */
public final class Coordinator implements AutoCloseable {
    // A registry may have servers of other tables, too: these answer a look with NOT_FOUND, and are none of this one.
    // A server that is registered and does not answer a look counts as not having anything. One that is not registered
    // is none, but
    // for a seat in a group that has others: shards are divided by the size of a group, so the seat is kept for it.

    private static final Duration LOOK_DEADLINE = Duration.ofSeconds(2);
    private static final long PAUSE_MILLIS = 50;
    private static final long PAUSE_AFTER_FAILURE_MILLIS = 500;
    private static final Served NONE = new Served(1, Set.of());

    private final Registry registry;
    private final String table;
    private final Options options;
    private final Channels channels;
    /** The last that was told, so that a wait is told once. */
    private String told = "";

    /**
     * How a version is rolled out.
     *
     * @param leastGroups in how many groups a version must be complete before the last replica of another one may go, 1 or more
     * @param grace for how long it must have been so: longer than any client waits for a batch
     * @param loadDeadline how long a server may take to load a version
     * @param trusted PEM file of certificates that servers' must go back to, or null for no TLS
     * @param token that servers ask for, or null if they ask for none; only with TLS, or to loopback addresses
     * @param observer is told of what the coordinator sees and does, by its thread
     */
    public record Options(
            int leastGroups,
            Duration grace,
            Duration loadDeadline,
            @Nullable Path trusted,
            @Nullable String token,
            Observer observer) {
        /**
         * For servers on the same machine: two groups, ten seconds, an hour.
         *
         * @return the options, whose observer does nothing
         */
        public static Options onLoopback() {
            return new Options(2, Duration.ofSeconds(10), Duration.ofHours(1), null, null, new Observer() {});
        }

        /** Without the token, which is a secret. */
        @Override
        public String toString() {
            return "Options[leastGroups=" + leastGroups + ", grace=" + grace + ", loadDeadline=" + loadDeadline
                    + ", tls=" + (trusted != null) + ", token=" + (token != null) + "]";
        }
    }

    /** Is told of what a coordinator sees and does. */
    public interface Observer {
        /**
         * It has done a step, or waits for something.
         *
         * @param what a line for people
         */
        default void told(String what) {}

        /**
         * It has looked at all servers.
         *
         * @param versions at all of them together, each counted at each server
         * @param bytes that these take in memory
         */
        default void saw(int versions, long bytes) {}
    }

    /**
     * A coordinator that has done nothing.
     *
     * @param registry says which servers there are, and who is in charge
     * @param table its name
     * @param options how versions are rolled out
     */
    public Coordinator(Registry registry, String table, Options options) {
        this.registry = registry;
        this.table = table;
        this.options = options;
        this.channels = new Channels(options.trusted, options.token);
    }

    /**
     * Takes charge, announces a version, and brings all servers to it.
     *
     * @param version higher than the one that is announced, or the same to go on with it
     * @param shards of it; not looked at if it is announced already
     * @throws IllegalArgumentException if a higher version is announced, or a server refuses what it is told
     * @throws IllegalStateException if another coordinator takes charge, or two servers have one seat
     * @throws UncheckedIOException if the registry does not answer at the beginning; later its return is waited for
     * @throws InterruptedException if the thread is; the roll can be gone on with
     */
    public void roll(long version, int shards) throws InterruptedException {
        long term = registry.takeCharge(table);
        Announced now = registry.announced(table).orElse(null);
        long before = now == null ? 0 : now.version();
        if (before > version) {
            throw new IllegalArgumentException(
                    "version must be " + before + " or higher, which is announced, got " + version);
        }
        Announced next = now != null && before == version ? now : new Announced(version, shards);
        if (before != version && !registry.announce(table, term, before, next)) {
            throw new IllegalStateException("another version was announced meanwhile");
        }
        proceed(term, next);
    }

    /**
     * Takes charge, announces a version with as many shards as the size of the one before asks for, and brings all servers to it.
     *
     * @param version higher than the one that is announced, or the same to go on with it
     * @param mostShardBytes that a shard may take in a server's memory, 1 or more
     * @return what is announced
     * @throws IllegalArgumentException as {@link #roll}
     * @throws IllegalStateException as {@link #roll}
     * @throws UncheckedIOException as {@link #roll}
     * @throws InterruptedException as {@link #roll}
     */
    public Announced rollBySize(long version, long mostShardBytes) throws InterruptedException {
        Map<String, Report> reports = new TreeMap<>();
        look(registry.termInCharge(table), reports);
        Announced before = registry.announced(table).orElse(null);
        int least = reports.values().stream()
                .mapToInt(report -> report.seat().of())
                .max()
                .orElse(1);
        roll(
                version,
                ShardCount.next(
                        before == null ? 0 : before.shards(),
                        before == null ? 0 : bytesOf(before.version(), reports),
                        mostShardBytes,
                        least));
        return registry.announced(table).orElseThrow();
    }

    /** What all shards of a version take together, by the group that has most of it. */
    private static long bytesOf(long version, Map<String, Report> reports) {
        Map<Integer, Long> byGroup = new HashMap<>();
        for (Report report : reports.values()) {
            byGroup.merge(report.seat().group(), report.bytes().getOrDefault(version, 0L), Long::sum);
        }
        return byGroup.values().stream().mapToLong(Long::longValue).max().orElse(0);
    }

    /**
     * Takes charge, and brings all servers to the version that is announced.
     *
     * @return the version, if there is one
     * @throws IllegalStateException as {@link #roll}
     * @throws UncheckedIOException as {@link #roll}
     * @throws InterruptedException as {@link #roll}
     */
    public Optional<Announced> resume() throws InterruptedException {
        long term = registry.takeCharge(table);
        Optional<Announced> announced = registry.announced(table);
        if (announced.isPresent()) {
            proceed(term, announced.get());
        }
        return announced;
    }

    /** Does step after step; what it knows between two of them is since when the version is complete. */
    private void proceed(long takenTerm, Announced announced) throws InterruptedException {
        Target target =
                new Target(announced.version(), announced.shards(), options.leastGroups, options.grace.toNanos());
        long term = takenTerm;
        long settledSince = 0;
        boolean isSettled = false;
        while (true) {
            Map<String, Report> reports = new TreeMap<>();
            try {
                term = requireInCharge(term, look(term, reports));
            } catch (UncheckedIOException e) {
                tell(e.getMessage() + "; waiting for it");
                Thread.sleep(PAUSE_AFTER_FAILURE_MILLIS);
                continue;
            }
            List<RollingUpdate.Server> seen = seen(reports);
            observe(reports);
            if (!RollingUpdate.isComplete(seen, target)) {
                isSettled = false;
            } else if (!isSettled) {
                isSettled = true;
                settledSince = System.nanoTime();
            }
            Step step = seen.isEmpty()
                    ? new Step.Wait("there is no server that has table " + table)
                    : RollingUpdate.next(seen, target, isSettled ? System.nanoTime() - settledSince : 0);
            switch (step) {
                case Step.Load load -> {
                    Order order = new Order(Kind.LOAD, table, term, load.version(), load.served());
                    order(load.server(), order, options.loadDeadline, "has version " + load.version());
                }
                case Step.Unload unload -> {
                    Order order = new Order(Kind.UNLOAD, table, term, unload.version(), NONE);
                    order(
                            unload.server(),
                            order,
                            LOOK_DEADLINE.multipliedBy(5),
                            "gives up version " + unload.version());
                }
                case Step.Wait wait -> {
                    tell("waiting: " + wait.reason());
                    Thread.sleep(PAUSE_MILLIS);
                }
                case Step.Done done -> {
                    return;
                }
            }
        }
    }

    private void observe(Map<String, Report> reports) {
        int versions = 0;
        long bytes = 0;
        for (Report report : reports.values()) {
            versions += report.view().versions().size();
            bytes += report.bytes().values().stream().mapToLong(Long::longValue).sum();
        }
        options.observer.saw(versions, bytes);
    }

    private void tell(String line) {
        if (!line.equals(told)) {
            told = line;
            options.observer.told(line);
        }
    }

    /**
     * Looks at all servers at once.
     *
     * @param reports is given what those say that answer
     * @return the highest term that a server knows
     */
    private long look(long term, Map<String, Report> reports) throws InterruptedException {
        Map<String, InetSocketAddress> there = registry.servers();
        channels.setServers(there);
        Map<String, Future<Report>> asked = new HashMap<>();
        for (String server : there.keySet()) {
            asked.put(server, ask(server, new Order(Kind.LOOK, table, term, 0, NONE), LOOK_DEADLINE));
        }
        long highest = term;
        for (Map.Entry<String, Future<Report>> entry : asked.entrySet()) {
            try {
                Report report = entry.getValue().get();
                reports.put(entry.getKey(), report);
                highest = Math.max(highest, report.term());
            } catch (ExecutionException e) {
                Status status = Status.fromThrowable(e);
                if (isFinal(status)) {
                    throw refused(entry.getKey(), status);
                } else if (status.getCode() != Status.Code.NOT_FOUND) {
                    // What is said of a deadline differs each time.
                    boolean isLate = status.getCode() == Status.Code.DEADLINE_EXCEEDED;
                    tell("server " + entry.getKey() + " does not answer: " + status.getCode()
                            + (isLate ? "" : ", " + status.getDescription()));
                }
            }
        }
        return highest;
    }

    /**
     * Whether this is still the one to give orders. Servers that know a higher term than the registry have kept it from one that has lost
     * its data: then a term above theirs is taken.
     *
     * @param highest that a server knows
     * @return the term to go on with
     */
    private long requireInCharge(long term, long highest) {
        long inCharge = registry.termInCharge(table);
        if (inCharge > term) {
            throw TableNode.notInCharge(inCharge, term);
        }
        return highest > term || inCharge < term ? registry.takeCharge(table, highest) : term;
    }

    private static boolean isFinal(Status status) {
        return switch (status.getCode()) {
            case INVALID_ARGUMENT, UNAUTHENTICATED, PERMISSION_DENIED, UNIMPLEMENTED, RESOURCE_EXHAUSTED -> true;
            default -> false;
        };
    }

    private static IllegalArgumentException refused(String server, Status status) {
        return new IllegalArgumentException(
                "server " + server + " refuses: " + status.getDescription(), status.asRuntimeException());
    }

    /** The servers that there are, and a seat without a server for each that is missing in a group that has others. */
    private static List<RollingUpdate.Server> seen(Map<String, Report> reports) {
        Map<Seat, String> taken = new HashMap<>();
        List<RollingUpdate.Server> seen = new ArrayList<>();
        Map<Integer, Integer> sizes = new TreeMap<>();
        reports.forEach((name, report) -> {
            Seat seat = report.seat();
            String other = taken.put(seat, name);
            if (other != null) {
                throw new IllegalStateException(
                        "servers " + other + " and " + name + " must have seats of their own, both have " + seat);
            }
            sizes.merge(seat.group(), seat.of(), Math::max);
            seen.add(new RollingUpdate.Server(
                    name, seat.group(), seat.ordinal(), true, report.view().versions()));
        });
        sizes.forEach((group, size) -> {
            for (int ordinal = 0; ordinal < size; ordinal++) {
                if (!taken.containsKey(new Seat(group, ordinal, size))) {
                    seen.add(new RollingUpdate.Server(
                            (ordinal + 1) + " of " + size + " in group " + group, group, ordinal, false, Map.of()));
                }
            }
        });
        return seen;
    }

    private Future<Report> ask(String server, Order order, Duration deadline) {
        ManagedChannel channel;
        try {
            channel = channels.to(server);
        } catch (StatusRuntimeException cannotBeAsked) {
            return CompletableFuture.failedFuture(cannotBeAsked);
        }
        CallOptions call = CallOptions.DEFAULT.withDeadlineAfter(deadline.toNanos(), TimeUnit.NANOSECONDS);
        return ClientCalls.futureUnaryCall(channel.newCall(OrderWire.ORDER, call), order);
    }

    /** Has a server do something. If it cannot now, the next look decides what to do. */
    private void order(String server, Order order, Duration deadline, String done) throws InterruptedException {
        try {
            ask(server, order, deadline).get();
            tell("server " + server + " " + done);
        } catch (ExecutionException e) {
            Status status = Status.fromThrowable(e);
            if (isFinal(status)) {
                throw refused(server, status);
            }
            tell("server " + server + " could not: " + status.getCode() + ", " + status.getDescription());
            Thread.sleep(PAUSE_AFTER_FAILURE_MILLIS);
        }
    }

    /** Ends it; what servers do by its orders, they do to the end. */
    @Override
    public void close() {
        channels.close();
    }
}
