package io.github.roost.rows.service;

import io.github.roost.rows.service.OrderWire.Kind;
import io.github.roost.rows.service.OrderWire.Order;
import io.github.roost.rows.service.OrderWire.Report;
import io.github.roost.rows.service.Registry.Announced;
import io.github.roost.rows.service.RollingUpdate.Step;
import io.github.roost.rows.service.RollingUpdate.Target;
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
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Rolls out versions of one table to servers in any processes: takes charge, announces the version, and does the steps of {@link RollingUpdate} until
 * all servers have it. It has no state that cannot be observed at the servers and the registry: if its process ends, another coordinator continues.
 * For one thread at a time.
 */
public final class Coordinator implements AutoCloseable {
    // A registry may have servers of other tables, too; they answer a look with NOT_FOUND, and are ignored. So are
    // servers that do not answer, or are not registered. But a seat that is missing in a group with other servers is
    // kept, as a server that does not answer: shards are divided by the size of a group.

    private static final Duration LOOK_DEADLINE = Duration.ofSeconds(2);
    private static final long PAUSE_MILLIS = 50;
    /** How often the servers are asked for the size of a version. */
    private static final int MAX_LOOKS = 20;

    private static final long PAUSE_AFTER_FAILURE_MILLIS = 500;
    private static final long MAX_PAUSE_MILLIS = 30_000;
    /** The interval of looks at the servers while one of them does an order. */
    private static final long WATCH_MILLIS = 250;

    /** The maximum number of waits that are remembered. */
    private static final int MAX_TOLD = 100;

    private static final Served NONE = new Served(1, Set.of());

    private final Registry registry;
    private final String table;
    private final Options options;
    private final Channels channels;
    /** The lines for the observer since a server last did something, so that each wait is reported once. */
    private final Set<String> told = new HashSet<>();
    /** Orders that failed since the last one that succeeded. */
    private int failures;

    /**
     * The options of a coordinator.
     *
     * @param minGroups the number of groups in which a version must be complete before the last replica of another version may be unloaded, 1 or
     *     more
     * @param grace for how long it must have been complete there; longer than the deadline of any client's batch
     * @param loadDeadline the deadline of a server's load of a version
     * @param trusted PEM file of the trusted root certificates, or null for no TLS
     * @param tokens those that servers require of orders, or null for none; without TLS they are sent to loopback addresses only
     * @param observer receives the coordinator's observations and actions, on its thread
     */
    public record Options(
            int minGroups,
            Duration grace,
            Duration loadDeadline,
            @Nullable Path trusted,
            @Nullable Tokens tokens,
            Observer observer) {
        /**
         * Options for servers on the same machine: two groups, a grace of ten seconds, a load deadline of an hour, no TLS, no token.
         *
         * @return the options, with an observer that does nothing
         */
        public static Options onLoopback() {
            return new Options(2, Duration.ofSeconds(10), Duration.ofHours(1), null, null, new Observer() {});
        }
    }

    /** Receives a coordinator's observations and actions. */
    public interface Observer {
        /**
         * The coordinator has done a step, or waits for something.
         *
         * @param what a line of text for people
         */
        default void told(String what) {}

        /**
         * The coordinator has looked at all servers: between its steps, and several times a second while a server loads.
         *
         * @param versions the sum over the servers of the versions each has or is loading
         * @param bytes the memory that these take
         */
        default void saw(int versions, long bytes) {}
    }

    /**
     * Creates a coordinator. It does not take charge yet.
     *
     * @param registry lists the servers, and holds the announced version and the term in charge
     * @param table the table's name
     * @param options the options
     */
    public Coordinator(Registry registry, String table, Options options) {
        this.registry = registry;
        this.table = table;
        this.options = options;
        this.channels = new Channels(options.trusted, options.tokens, false);
    }

    /**
     * Takes charge, announces a version, and rolls it out to all servers.
     *
     * @param version a version higher than the announced version, or equal to it to continue its rollout
     * @param shards its number of shards; ignored if the version is announced already
     * @throws IllegalArgumentException if a higher version is announced, or a server refuses an order for good
     * @throws IllegalStateException if another coordinator takes charge, two servers have the same seat, or servers have different rows of the version
     * @throws UncheckedIOException if the registry does not answer at the beginning; later the rollout waits for it
     * @throws InterruptedException if the thread is interrupted; the rollout can be continued
     */
    public void roll(long version, int shards) throws InterruptedException {
        // Before it takes charge: a refused call must not stop the coordinator in charge.
        announcedUpTo(version);
        long term = registry.takeCharge(table);
        Announced now = announcedUpTo(version);
        long before = now == null ? 0 : now.version();
        Announced next = now != null && before == version ? now : new Announced(version, shards);
        if (before != version && !registry.announce(table, term, before, next)) {
            throw new IllegalStateException("another version was announced at the same time");
        }
        proceed(term, next);
    }

    /**
     * Returns the announced version, or null if there is none.
     *
     * @throws IllegalArgumentException if it is higher than {@code version}
     */
    private @Nullable Announced announcedUpTo(long version) {
        Announced announced = registry.announced(table).orElse(null);
        if (announced != null && announced.version() > version) {
            throw new IllegalArgumentException(
                    "version must be " + announced.version() + " or higher, which is announced, got " + version);
        }
        return announced;
    }

    /**
     * Takes charge, announces a version whose number of shards follows from the size of the previous version ({@link ShardCount}), and rolls it out
     * to all servers. The first version of a table has one shard per server of a group, whatever its size.
     *
     * @param version a version higher than the announced version, or equal to it to continue its rollout
     * @param maxShardBytes the maximum size of a shard in a server's memory, 1 or more
     * @return the announced version
     * @throws IllegalArgumentException as {@link #roll}
     * @throws IllegalStateException as {@link #roll}, or no group of servers reports all shards of the previous version
     * @throws UncheckedIOException as {@link #roll}
     * @throws InterruptedException as {@link #roll}
     */
    public Announced rollBySize(long version, long maxShardBytes) throws InterruptedException {
        Announced before = announcedUpTo(version);
        roll(
                version,
                before != null && before.version() == version ? before.shards() : shardsBySize(before, maxShardBytes));
        return registry.announced(table).orElseThrow();
    }

    private int shardsBySize(@Nullable Announced before, long maxShardBytes) throws InterruptedException {
        for (int attempt = 0; attempt < MAX_LOOKS; attempt++) {
            Map<String, Report> reports = new TreeMap<>();
            look(registry.termInCharge(table), reports);
            OptionalLong bytes = before == null ? OptionalLong.of(0) : bytesOf(before, reports.values());
            OptionalInt minShards = reports.values().stream()
                    .mapToInt(report -> report.seat().of())
                    .max();
            if (bytes.isPresent() && minShards.isPresent()) {
                return ShardCount.next(
                        before == null ? 0 : before.shards(), bytes.getAsLong(), maxShardBytes, minShards.getAsInt());
            }
            tell("waiting: no group of servers reports all shards of the previous version");
            Thread.sleep(PAUSE_MILLIS);
        }
        throw new IllegalStateException(
                "the size of table " + table + " is unknown: no group of servers reports all shards"
                        + (before == null ? "" : " of version " + before.version())
                        + "; start the missing servers, or name the number of shards");
    }

    /** The total size of a version's shards, by a group whose servers together report all of them; empty if there is no such group. */
    private static OptionalLong bytesOf(Announced version, Collection<Report> reports) {
        Map<Integer, Set<Integer>> shards = new HashMap<>();
        Map<Integer, Long> bytes = new HashMap<>();
        for (Report report : reports) {
            int group = report.seat().group();
            Served served = report.view().versions().getOrDefault(version.version(), NONE);
            shards.computeIfAbsent(group, first -> new HashSet<>()).addAll(served.here());
            bytes.merge(group, report.bytes().getOrDefault(version.version(), 0L), Long::sum);
        }
        return bytes.entrySet().stream()
                .filter(entry -> shards.getOrDefault(entry.getKey(), Set.of()).size() == version.shards())
                .mapToLong(Map.Entry::getValue)
                .max();
    }

    /**
     * Takes charge, and rolls out the announced version to all servers.
     *
     * @return the version, or empty if none is announced
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

    /** Does steps until the rollout is done; the only state between steps is since when the version is complete. */
    private void proceed(long takenTerm, Announced first) throws InterruptedException {
        Target target = new Target(first.version(), first.shards(), options.minGroups, options.grace.toNanos());
        Announced announced = first;
        long term = takenTerm;
        long settledSince = 0;
        boolean isSettled = false;
        while (true) {
            Map<String, Report> reports = new TreeMap<>();
            try {
                term = requireInCharge(term, look(term, reports));
                announced = withContent(announced, term, reports);
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
                    Served served = load.served().of(announced.content());
                    Order order = new Order(Kind.LOAD, table, term, load.version(), served);
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

    /** Announces the content that the first server has loaded, and requires all others to have the same. */
    private Announced withContent(Announced announced, long term, Map<String, Report> reports) {
        long version = announced.version();
        long content = announced.content();
        String who = "the announcement";
        for (Map.Entry<String, Report> report : reports.entrySet()) {
            Served served = report.getValue().view().versions().get(version);
            if (served != null && content != 0 && served.content() != content) {
                throw new IllegalStateException("all servers must have one content of version " + version + ", but "
                        + who
                        + " has " + text(content) + ", server " + report.getKey() + " has " + text(served.content())
                        + ": roll out a higher version");
            }
            if (served != null && content == 0) {
                content = served.content();
                who = "server " + report.getKey();
            }
        }
        if (content == announced.content()) {
            return announced;
        }
        Announced known = new Announced(version, announced.shards(), content);
        return registry.announce(table, term, version, known) ? known : announced;
    }

    private static String text(long content) {
        return content == 0 ? "one that is not known" : Long.toHexString(content);
    }

    private void observe(Map<String, Report> reports) {
        int versions = 0;
        long bytes = 0;
        for (Report report : reports.values()) {
            versions += report.bytes().size();
            bytes += report.bytes().values().stream().mapToLong(Long::longValue).sum();
        }
        options.observer.saw(versions, bytes);
    }

    private void tell(String line) {
        if (told.size() == MAX_TOLD) {
            told.clear();
        }
        if (told.add(line)) {
            options.observer.told(line);
        }
    }

    /**
     * Looks at all servers in parallel.
     *
     * @param reports receives the reports of the servers that answer
     * @return the highest term that a server knows, at least {@code term}
     */
    private long look(long term, Map<String, Report> reports) throws InterruptedException {
        Map<String, InetSocketAddress> present = registry.servers();
        channels.setServers(present);
        Map<String, Future<Report>> requested = new HashMap<>();
        for (String server : present.keySet()) {
            requested.put(server, ask(server, new Order(Kind.LOOK, table, term, 0, NONE), LOOK_DEADLINE));
        }
        long highest = term;
        for (Map.Entry<String, Future<Report>> entry : requested.entrySet()) {
            try {
                Report report = entry.getValue().get();
                reports.put(entry.getKey(), report);
                highest = Math.max(highest, report.term());
            } catch (ExecutionException e) {
                Status status = Status.fromThrowable(e);
                if (isFinal(status)) {
                    throw refused(entry.getKey(), status);
                } else if (status.getCode() != Status.Code.NOT_FOUND) {
                    // The description of a missed deadline differs each time, and would be reported each time.
                    boolean isLate = status.getCode() == Status.Code.DEADLINE_EXCEEDED;
                    tell("server " + entry.getKey() + " does not answer: " + status.getCode()
                            + (isLate ? "" : ", " + status.getDescription()));
                }
            }
        }
        return highest;
    }

    /**
     * Requires this coordinator to be in charge. If the registry lost its data, servers may know a higher term than it, or its own term is lower:
     * then a new term above both is taken.
     *
     * @param highest the highest term that a server knows
     * @return the term to continue with
     */
    private long requireInCharge(long term, long highest) {
        long inCharge = registry.termInCharge(table);
        if (inCharge > term) {
            throw RowsNode.notInCharge(inCharge, term);
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

    /** The servers that answered, and a placeholder that is not alive for each missing seat of their groups. */
    private static List<RollingUpdate.Server> seen(Map<String, Report> reports) {
        Map<RowsServer.Seat, String> taken = new HashMap<>();
        List<RollingUpdate.Server> seen = new ArrayList<>();
        Map<Integer, Integer> sizes = new TreeMap<>();
        reports.forEach((name, report) -> {
            RowsServer.Seat seat = report.seat();
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
                if (!taken.containsKey(new RowsServer.Seat(group, ordinal, size))) {
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

    /** Sends an order to a server, and waits for it. If it fails for now, the next look decides what to do. */
    private void order(String server, Order order, Duration deadline, String done) throws InterruptedException {
        try {
            awaitWatching(ask(server, order, deadline), order.term());
            failures = 0;
            told.clear();
            tell("server " + server + " " + done);
        } catch (ExecutionException e) {
            Status status = Status.fromThrowable(e);
            if (isFinal(status)) {
                throw refused(server, status);
            }
            long pause = pauseMillis(failures++);
            tell("server " + server + " could not: " + status.getCode() + ", " + status.getDescription()
                    + "; next try in " + pause + " ms");
            Thread.sleep(pause);
        }
    }

    /**
     * The pause after a failed order: doubled each time, since a load may read the whole source before it fails.
     *
     * @param failures the orders that failed before it, since the last one that succeeded
     */
    static long pauseMillis(int failures) {
        return Math.min(MAX_PAUSE_MILLIS, PAUSE_AFTER_FAILURE_MILLIS << Math.min(failures, 16));
    }

    /** Waits for an order, and meanwhile reports the memory that it takes at the servers. */
    private void awaitWatching(Future<Report> done, long term) throws InterruptedException, ExecutionException {
        while (true) {
            try {
                done.get(WATCH_MILLIS, TimeUnit.MILLISECONDS);
                return;
            } catch (TimeoutException stillBusy) {
                try {
                    Map<String, Report> reports = new TreeMap<>();
                    look(term, reports);
                    observe(reports);
                } catch (UncheckedIOException withoutRegistry) {
                    tell(withoutRegistry.getMessage() + "; an order is waited for");
                }
            }
        }
    }

    /** Closes the coordinator's connections; servers complete orders that they have begun. */
    @Override
    public void close() {
        channels.close();
    }
}
