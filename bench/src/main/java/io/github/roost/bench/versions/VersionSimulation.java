package io.github.roost.bench.versions;

import io.github.roost.table.LongTable;
import io.github.roost.tableservice.KnownServers;
import io.github.roost.tableservice.RollingUpdate;
import io.github.roost.tableservice.RollingUpdate.Step;
import io.github.roost.tableservice.RollingUpdate.Target;
import io.github.roost.tableservice.Served;
import io.github.roost.tableservice.ServerView;
import io.github.roost.tableservice.StrongBatch;
import io.github.roost.tableservice.StrongBatch.Ask;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.SplittableRandom;

/**
 * Clients, servers and a coordinator in virtual time, from a seed: versions are rolled out over and over, and re-sharded with it, while
 * messages are late, lost, doubled and overtaken, servers are killed in every phase, and some clients know only what was true long ago. What decides is
 * the service's own code: {@link StrongBatch}, {@link KnownServers}, {@link RollingUpdate}. Beside each batch a naive one
 * is asked for: from a random live server of each part, whatever version that has come to. One thread.
 */
public final class VersionSimulation {
    private static final long MICRO = 1_000;
    private static final long MILLI = 1_000 * MICRO;
    private static final long SECOND = 1_000 * MILLI;

    private static final int GROUPS = 3;
    private static final int SERVERS_PER_GROUP = 2;
    private static final int[] SHARDS = {3, 5, 4};
    private static final int CLIENTS = 16;
    private static final int KEYS = 8;

    private static final long BATCH_EVERY = 500 * MICRO;
    private static final long ASK_TIMEOUT = 30 * MILLI;
    private static final long RETRY = 5 * MILLI;
    private static final long DEADLINE = SECOND;
    private static final long GRACE = 2 * SECOND;
    private static final long UPDATE_EVERY = 30 * SECOND;
    private static final long LOAD = 400 * MILLI;
    private static final long TICK = 50 * MILLI;
    private static final long KILL_EVERY = 4 * SECOND;
    private static final long DOWN = 300 * MILLI;
    /** Of a thousand messages. */
    private static final int DROPPED = 5;

    private static final int DOUBLED = 5;
    private static final int LATE = 10;
    /** A client forgets what it knows of one server so often, by being given its oldest view: of a thousand batches. */
    private static final int STALE = 20;

    /**
     * What was seen.
     *
     * @param batches that were asked for
     * @param answered in time
     * @param mixed of these, with values of several versions, or of another than the batch says
     * @param attempts of all batches
     * @param naive batches of the naive client that were answered
     * @param naiveMixed of these, with values of several versions
     * @param rolls versions that were rolled out to all servers
     * @param kills of servers
     * @param incomplete looks at the servers at which no version was complete at live ones
     * @param mostMemory most versions that were in memory at once, over one for each server
     * @param fencedOff steps of a coordinator that is no longer in charge, all of which were refused
     */
    public record Outcome(
            long batches,
            long answered,
            long mixed,
            long attempts,
            long naive,
            long naiveMixed,
            long rolls,
            long kills,
            long incomplete,
            double mostMemory,
            long fencedOff) {}

    /** What happens at a moment; those of one moment in the order in which they were put. */
    private record Event(long at, long order, Runnable action) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            return at != other.at ? Long.compare(at, other.at) : Long.compare(order, other.order);
        }
    }

    private static final class Server {
        private final String name;
        private final int group;
        private final int ordinal;
        private boolean isAlive = true;
        private long incarnation;
        private long sequence;
        private long term;
        private Map<Long, Served> versions = new HashMap<>();
        private ServerView first;
        private ServerView view;

        Server(int group, int ordinal) {
            this.name = "s" + group + "-" + ordinal;
            this.group = group;
            this.ordinal = ordinal;
            this.first = new ServerView(name, 0, Map.of());
            this.view = first;
        }

        void changed() {
            view = new ServerView(name, ++sequence, versions);
        }

        long newest() {
            return versions.keySet().stream().mapToLong(Long::longValue).max().orElse(0);
        }
    }

    private final SplittableRandom random;
    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private final List<Server> servers = new ArrayList<>();
    private final Map<String, Server> byName = new HashMap<>();
    private final List<KnownServers> clients = new ArrayList<>();
    private final long wanted;
    private long now;
    private long order;

    private Target target;
    private long term = 1;
    private long settledSince = -1;
    private boolean isRolled;

    private long batches;
    private long over;
    private long answered;
    private long mixed;
    private long attempts;
    private long naive;
    private long naiveMixed;
    private long rolls;
    private long kills;
    private long incomplete;
    private int mostVersions;
    private long fencedOff;

    private VersionSimulation(long seed, long batches) {
        this.random = new SplittableRandom(seed);
        this.wanted = batches;
        this.target = new Target(1, SHARDS[0], 2, GRACE);
        for (int group = 0; group < GROUPS; group++) {
            for (int ordinal = 0; ordinal < SERVERS_PER_GROUP; ordinal++) {
                Server server = new Server(group, ordinal);
                server.versions.put(1L, RollingUpdate.shardsAt(SERVERS_PER_GROUP, ordinal, SHARDS[0]));
                server.changed();
                server.first = server.view;
                servers.add(server);
                byName.put(server.name, server);
            }
        }
        for (int i = 0; i < CLIENTS; i++) {
            KnownServers known = new KnownServers();
            known.setServers(byName.keySet());
            clients.add(known);
        }
    }

    /**
     * Simulates.
     *
     * @param seed of all that is random
     * @param batches to ask for, 1 or more
     * @return what was seen, the same for the same arguments
     */
    public static Outcome run(long seed, long batches) {
        return new VersionSimulation(seed, batches).run();
    }

    private Outcome run() {
        after(0, this::nextBatch);
        after(0, this::tick);
        after(UPDATE_EVERY, this::update);
        after(KILL_EVERY, this::kill);
        while (over < wanted) {
            Event event = events.remove();
            now = event.at;
            event.action.run();
        }
        return new Outcome(
                batches,
                answered,
                mixed,
                attempts,
                naive,
                naiveMixed,
                rolls,
                kills,
                incomplete,
                mostVersions / (double) servers.size(),
                fencedOff);
    }

    private Server named(String name) {
        return Objects.requireNonNull(byName.get(name));
    }

    private void after(long nanos, Runnable action) {
        events.add(new Event(now + nanos, order++, action));
    }

    /** A message on its way: once, never, or twice, each time for another while. */
    private void send(Runnable arrival) {
        int fate = random.nextInt(1_000);
        if (fate >= DROPPED) {
            after(delay(), arrival);
        }
        if (fate >= 1_000 - DOUBLED) {
            after(delay(), arrival);
        }
    }

    private long delay() {
        long usual = (long) (-Math.log(1 - random.nextDouble()) * 200 * MICRO) + 50 * MICRO;
        return random.nextInt(1_000) < LATE ? usual + random.nextLong(100 * MILLI) : usual;
    }

    private void nextBatch() {
        if (batches < wanted) {
            batches++;
            KnownServers known = clients.get(random.nextInt(CLIENTS));
            if (random.nextInt(1_000) < STALE) {
                forget(known);
            }
            new Batch(known).begin();
            askNaively();
            after((long) (-Math.log(1 - random.nextDouble()) * BATCH_EVERY), this::nextBatch);
        }
    }

    /** All that a client knows of becomes what was true when everything began. */
    private void forget(KnownServers known) {
        known.setServers(List.of());
        known.setServers(byName.keySet());
        servers.forEach(server -> known.learn(server.first));
    }

    /** One batch of a client, with its messages. */
    private final class Batch {
        private final KnownServers known;
        private final StrongBatch<List<Long>> batch;
        private final long[] keys = random.longs(KEYS).toArray();
        private final long deadline = now + DEADLINE;
        private boolean isOver;

        Batch(KnownServers known) {
            this.known = known;
            this.batch = new StrongBatch<>(known, keys, random);
        }

        void begin() {
            proceed(batch.begin(now));
        }

        private void proceed(List<Ask> asks) {
            asks.forEach(this::send);
            if (isOver) {
                return;
            }
            if (batch.isDone()) {
                end();
                answered++;
                check();
            } else if (now >= deadline) {
                end();
            } else if (!batch.isWaiting()) {
                after(RETRY, () -> {
                    if (!isOver && !batch.isWaiting()) {
                        begin();
                    }
                });
            }
        }

        private void end() {
            isOver = true;
            over++;
            attempts += batch.attempts();
        }

        private void send(Ask ask) {
            Server server = named(ask.server());
            long sequence = known.sequence(ask.server());
            VersionSimulation.this.send(() -> arrive(server, ask, sequence));
            after(ASK_TIMEOUT, () -> {
                if (!isOver) {
                    proceed(now >= deadline ? List.of() : batch.failed(ask, now));
                }
            });
        }

        /** At the server. */
        private void arrive(Server server, Ask ask, long sequence) {
            if (!server.isAlive) {
                return;
            }
            ServerView view = server.view;
            Served served = server.versions.get(ask.version());
            boolean isServed = served != null
                    && served.shards() == ask.shards()
                    && served.here().contains(ask.shard());
            // What the server has in memory: values are the version they were loaded with.
            List<Long> values = isServed ? List.of(ask.version(), (long) ask.keys().length) : List.of();
            VersionSimulation.this.send(() -> {
                if (isOver) {
                    return;
                }
                if (view.sequence() != sequence) {
                    known.learn(view);
                }
                if (isServed) {
                    proceed(batch.answered(ask, values.getFirst(), values));
                } else {
                    proceed(batch.notServed(ask, now));
                }
            });
        }

        /** Every key once, from the shard that it is of in the version of the batch, with a value of that version. */
        private void check() {
            int shards = SHARDS[(int) ((batch.version() - 1) % SHARDS.length)];
            int found = 0;
            boolean isWrong = false;
            boolean[] seen = new boolean[KEYS];
            for (StrongBatch.Answer<List<Long>> answer : batch.answers()) {
                isWrong |= answer.values().getFirst() != batch.version();
                isWrong |= answer.values().getLast() != answer.positions().length;
                int shard = LongTable.shard(keys[answer.positions()[0]], shards);
                for (int position : answer.positions()) {
                    isWrong |= seen[position] || LongTable.shard(keys[position], shards) != shard;
                    seen[position] = true;
                    found++;
                }
            }
            mixed += isWrong || found != KEYS ? 1 : 0;
        }
    }

    /** A value of each part of the table, each from any live server of that part, of the newest version that it has. */
    private void askNaively() {
        long[] versions = new long[SERVERS_PER_GROUP];
        int[] left = {SERVERS_PER_GROUP};
        for (int part = 0; part < SERVERS_PER_GROUP; part++) {
            int of = part;
            List<Server> live = servers.stream()
                    .filter(server -> server.ordinal == of && server.isAlive)
                    .toList();
            if (live.isEmpty()) {
                return;
            }
            Server server = live.get(random.nextInt(live.size()));
            after(delay(), () -> {
                versions[of] = server.newest();
                if (--left[0] == 0) {
                    naive++;
                    naiveMixed += versions[0] != versions[1] ? 1 : 0;
                }
            });
        }
    }

    private List<RollingUpdate.Server> seen() {
        return servers.stream()
                .map(server -> new RollingUpdate.Server(
                        server.name, server.group, server.ordinal, server.isAlive, server.versions))
                .toList();
    }

    /** The coordinator looks, and does one step at a server that is doing none. */
    private void tick() {
        List<RollingUpdate.Server> seen = seen();
        if (!RollingUpdate.isComplete(seen, target)) {
            settledSince = -1;
        } else if (settledSince < 0) {
            settledSince = now;
        }
        incomplete += hasComplete() ? 0 : 1;
        Step step = RollingUpdate.next(seen, target, settledSince < 0 ? 0 : now - settledSince);
        switch (step) {
            case Step.Load load ->
                command(named(load.server()), term, LOAD, server -> {
                    server.versions.put(load.version(), load.served());
                });
            case Step.Unload unload ->
                command(named(unload.server()), term, 0, server -> {
                    server.versions.remove(unload.version());
                });
            case Step.Wait wait -> {}
            case Step.Done done -> {
                rolls += isRolled ? 0 : 1;
                isRolled = true;
            }
        }
        if (random.nextInt(100) == 0) {
            takeOver();
        }
        after(step instanceof Step.Load ? LOAD + TICK : TICK, this::tick);
    }

    private interface Change {
        void apply(Server server);
    }

    /** A server does what a coordinator says, unless it knows a later one. */
    private void command(Server server, long from, long nanos, Change change) {
        if (from < server.term) {
            fencedOff++;
            return;
        }
        server.term = from;
        long incarnation = server.incarnation;
        after(nanos, () -> {
            if (server.isAlive && server.incarnation == incarnation) {
                // In a new map: views that are on their way keep what they say.
                server.versions = new HashMap<>(server.versions);
                change.apply(server);
                server.changed();
                mostVersions = Math.max(
                        mostVersions,
                        servers.stream().mapToInt(any -> any.versions.size()).sum());
            }
        });
    }

    /** Another coordinator takes charge; what the one before still says to servers that know of it is refused. */
    private void takeOver() {
        long before = term++;
        for (Server server : servers) {
            if (server.isAlive) {
                server.term = term;
                command(server, before, 0, gone -> gone.versions.clear());
            }
        }
    }

    private boolean hasComplete() {
        KnownServers truth = new KnownServers();
        truth.setServers(byName.keySet());
        servers.stream().filter(server -> server.isAlive).forEach(server -> truth.learn(server.view));
        return truth.newest(now) != null;
    }

    private void update() {
        long version = target.version() + 1;
        target = new Target(version, SHARDS[(int) ((version - 1) % SHARDS.length)], 2, GRACE);
        settledSince = -1;
        isRolled = false;
        // Sometimes the next one comes while this one is rolled out.
        after(random.nextInt(8) == 0 ? LOAD * 3 : UPDATE_EVERY, this::update);
    }

    private void kill() {
        Server server = servers.get(random.nextInt(servers.size()));
        // One at a time: two at once may hold all that is left of two versions.
        if (servers.stream().allMatch(other -> other.isAlive)) {
            kills++;
            server.isAlive = false;
            server.incarnation++;
            after(DOWN, () -> {
                server.isAlive = true;
                server.changed();
            });
        }
        after((long) (-Math.log(1 - random.nextDouble()) * KILL_EVERY), this::kill);
    }
}
