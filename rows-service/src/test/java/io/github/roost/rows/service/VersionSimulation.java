package io.github.roost.rows.service;

import io.github.roost.neighborhash.NeighborHashMap;
import io.github.roost.rows.service.Batch.Answer;
import io.github.roost.rows.service.Batch.Ask;
import io.github.roost.rows.service.RollingUpdate.Target;
import io.github.roost.rows.service.VirtualServer.Order;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Simulates clients, servers and coordinators in virtual time, from a seed. Versions are rolled out repeatedly, each with another number of shards;
 * messages of clients and coordinators are delayed, lost, duplicated and reordered; servers and coordinators are killed and replaced in every phase
 * of a roll ({@link KillPlan}); and some clients have very old views. The decisions are made by the service's own classes: {@link StrongBatch},
 * {@link KnownServers}, {@link RollingUpdate}. Along with each batch a naive batch is requested: from a random live server of each part, of that
 * server's newest version. Not thread-safe.
 */
final class VersionSimulation {
    private static final int GROUPS = 3;
    private static final int SERVERS_PER_GROUP = 2;
    private static final int[] SHARDS = {3, 5, 4};
    private static final int CLIENTS = 16;
    private static final int KEYS = 8;

    private static final long BATCH_EVERY = 8 * VirtualNetwork.MILLI;
    /** A server that has not answered for so long is silent. */
    private static final long SILENT = 30 * VirtualNetwork.MILLI;
    /** A connection without an answer for so long has broken. */
    private static final long BROKEN = 200 * VirtualNetwork.MILLI;

    private static final long HEDGE = 3 * VirtualNetwork.MILLI;
    private static final long RETRY = 5 * VirtualNetwork.MILLI;
    private static final long DEADLINE = VirtualNetwork.SECOND;
    private static final long GRACE = 2 * VirtualNetwork.SECOND;
    private static final long UPDATE_EVERY = 30 * VirtualNetwork.SECOND;
    /** Max time to an early next version, which is announced during a roll; {@link #EARLY_ONES} per hundred versions are early. */
    private static final long EARLY = 6 * VirtualNetwork.SECOND;

    private static final int EARLY_ONES = 40;
    private static final long KILL_EVERY = 10 * VirtualNetwork.SECOND;
    private static final long DOWN = 300 * VirtualNetwork.MILLI;
    /** Max time until another coordinator continues the roll of a killed one. */
    private static final long UNATTENDED = VirtualNetwork.SECOND;

    /** Per thousand batches, how often a client's views of all servers are replaced by the initial ones. */
    private static final int STALE = 20;

    /**
     * The counts of a simulation.
     *
     * @param batches requested
     * @param answered in time
     * @param mixed answered batches with values of several versions, or of another version than the batch reports
     * @param attempts of all batches
     * @param hedges requests sent to a second server because the first was slow
     * @param naive answered batches of the naive client
     * @param naiveMixed answered naive batches with values of several versions
     * @param rolls versions rolled out to all servers
     * @param kills of servers
     * @param coordinators killed
     * @param rivals coordinators that took charge while another one continued
     * @param byPhase how often each victim was killed or replaced, by phase of a roll and, if the phase belongs to a group, by group; includes zeros
     * @param incomplete changes at the servers after which no version was complete at live servers
     * @param maxMemory max number of versions in memory at once, per server
     * @param fencedOff refused orders of coordinators that were not in charge any more
     * @param outOfTurn orders of such coordinators that a server executed after a later coordinator had looked at it
     * @param messages of clients and coordinators, by kind
     */
    public record Outcome(
            long batches,
            long answered,
            long mixed,
            long attempts,
            long hedges,
            long naive,
            long naiveMixed,
            long rolls,
            long kills,
            long coordinators,
            long rivals,
            Map<String, Map<String, Long>> byPhase,
            long incomplete,
            double maxMemory,
            long fencedOff,
            long outOfTurn,
            List<Messages> messages) {}

    /**
     * Messages of one kind, including answers.
     *
     * @param kind their purpose
     * @param sent number of all messages
     * @param lost number of lost ones
     * @param doubled number of duplicated ones
     * @param late number of late ones
     */
    public record Messages(String kind, long sent, long lost, long doubled, long late) {}

    private final SplittableRandom random;
    private final VirtualNetwork network;
    private final VirtualNetwork.Traffic requests =
            new VirtualNetwork.Traffic("requests of clients", 5, 100 * VirtualNetwork.MILLI);
    /** The max delays exceed the coordinators' timeouts. */
    private final VirtualCoordinator.Wires wires = new VirtualCoordinator.Wires(
            new VirtualNetwork.Traffic("looks", 10, 3 * VirtualNetwork.SECOND),
            new VirtualNetwork.Traffic("orders to load", 40, 3 * VirtualNetwork.SECOND),
            new VirtualNetwork.Traffic("orders to unload", 40, 3 * VirtualNetwork.SECOND));

    private final KillPlan plan;
    private final List<VirtualServer> servers = new ArrayList<>();
    private final Map<String, VirtualServer> byName = new HashMap<>();
    private final List<KnownServers> clients = new ArrayList<>();
    private final long wanted;

    /** The target in the registry. */
    private Target target = new Target(1, SHARDS[0], 2, GRACE);

    private long termInCharge = 1;
    private @Nullable VirtualCoordinator coordinator;

    private long batches;
    private long over;
    private long answered;
    private long mixed;
    private long attempts;
    private long hedges;
    private long naive;
    private long naiveMixed;
    private long rolls;
    private long kills;
    private long coordinators;
    private long rivals;
    private long incomplete;
    private int maxVersions;
    private long fencedOff;
    private long outOfTurn;

    private VersionSimulation(long seed, long batches, int groups) {
        this.random = new SplittableRandom(seed);
        this.network = new VirtualNetwork(random);
        this.plan = new KillPlan(groups, random);
        this.wanted = batches;
        for (int group = 0; group < groups; group++) {
            for (int ordinal = 0; ordinal < SERVERS_PER_GROUP; ordinal++) {
                VirtualServer server = new VirtualServer(
                        group,
                        ordinal,
                        RollingUpdate.shardsAt(SERVERS_PER_GROUP, ordinal, SHARDS[0]),
                        network,
                        random,
                        () -> termInCharge,
                        new ServerWatch());
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
     * Simulates three groups of servers.
     *
     * @param seed of all random numbers
     * @param batches to request, 1 or more
     * @return the counts, the same for the same arguments
     */
    public static Outcome run(long seed, long batches) {
        return run(seed, batches, GROUPS);
    }

    /**
     * Simulates.
     *
     * @param seed of all random numbers
     * @param batches to request, 1 or more
     * @param groups number of groups of two servers; a group together has one replica of all shards. 2 or more
     * @return the counts, the same for the same arguments
     */
    public static Outcome run(long seed, long batches, int groups) {
        return new VersionSimulation(seed, batches, groups).run();
    }

    private Outcome run() {
        network.after(0, this::nextBatch);
        network.after(UPDATE_EVERY, this::update);
        network.after(KILL_EVERY, this::killAny);
        while (over < wanted) {
            network.runNext();
        }
        Map<String, Map<String, Long>> byPhase = new LinkedHashMap<>();
        plan.counts().forEach((phase, victims) -> {
            Map<String, Long> named = new LinkedHashMap<>();
            victims.forEach((victim, count) -> named.put(victim.toString(), count));
            byPhase.put(phase, named);
        });
        return new Outcome(
                batches,
                answered,
                mixed,
                attempts,
                hedges,
                naive,
                naiveMixed,
                rolls,
                kills,
                coordinators,
                rivals,
                byPhase,
                incomplete,
                maxVersions / (double) servers.size(),
                fencedOff,
                outOfTurn,
                Stream.of(requests, wires.looks(), wires.loads(), wires.unloads())
                        .map(VirtualNetwork.Traffic::counts)
                        .toList());
    }

    private VirtualServer named(String name) {
        return Objects.requireNonNull(byName.get(name));
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
            network.after(network.exponential(BATCH_EVERY), this::nextBatch);
        }
    }

    /** Replaces all views of a client by the initial ones. */
    private void forget(KnownServers known) {
        known.setServers(List.of());
        known.setServers(byName.keySet());
        servers.forEach(server -> known.learn(server.first()));
    }

    /** One batch of a client, with its messages. */
    private final class Batch {
        private final KnownServers known;
        private final StrongBatch<List<Long>> batch;
        private final long[] keys = random.longs(KEYS).toArray();
        private final long deadline = network.now() + DEADLINE;
        private boolean isOver;

        Batch(KnownServers known) {
            this.known = known;
            this.batch = new StrongBatch<>(known, 0, keys, random);
        }

        void begin() {
            proceed(batch.begin(network.now()));
            network.after(HEDGE, this::hedge);
        }

        private void hedge() {
            if (!isOver) {
                List<Ask> asks = batch.hedge(network.now(), KEYS);
                hedges += asks.size();
                proceed(asks);
            }
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
            } else if (network.now() >= deadline) {
                end();
            } else if (!batch.isWaiting()) {
                network.after(RETRY, () -> {
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
            VirtualServer server = named(ask.server());
            long sequence = known.sequence(ask.server());
            network.send(requests, () -> arrive(server, ask, sequence));
            network.after(SILENT, () -> {
                if (!isOver && network.now() < deadline) {
                    proceed(batch.silent(ask, network.now()));
                }
            });
            network.after(BROKEN, () -> {
                if (!isOver) {
                    proceed(network.now() >= deadline ? List.of() : batch.failed(ask, network.now()));
                }
            });
        }

        /** Arrives at the server. */
        private void arrive(VirtualServer server, Ask ask, long sequence) {
            if (!server.isAlive()) {
                return;
            }
            ServerView view = server.view();
            Served served = view.versions().get(ask.version());
            boolean isServed = served != null
                    && served.shards() == ask.shards()
                    && served.here().contains(ask.shard());
            // Values stand for the server's memory: each is the version that it was loaded with.
            List<Long> values = isServed ? List.of(ask.version(), (long) ask.keys().length) : List.of();
            network.send(requests, () -> {
                if (view.sequence() != sequence) {
                    known.learn(view);
                }
                if (isOver) {
                    return;
                }
                if (isServed) {
                    proceed(batch.answered(ask, values.getFirst(), values, network.now()));
                } else {
                    proceed(batch.notServed(ask, network.now()));
                }
            });
        }

        /** Checks that every key was answered once, from its shard in the batch's version, with a value of that version. */
        private void check() {
            int shards = SHARDS[(int) ((batch.version() - 1) % SHARDS.length)];
            int found = 0;
            boolean isWrong = false;
            boolean[] seen = new boolean[KEYS];
            for (Answer<List<Long>> answer : batch.answers()) {
                isWrong |= answer.values().getFirst() != batch.version();
                isWrong |= answer.values().getLast() != answer.positions().length;
                int shard = NeighborHashMap.shard(keys[answer.positions()[0]], shards);
                for (int position : answer.positions()) {
                    isWrong |= seen[position] || NeighborHashMap.shard(keys[position], shards) != shard;
                    seen[position] = true;
                    found++;
                }
            }
            mixed += isWrong || found != KEYS ? 1 : 0;
        }
    }

    /** Requests a value of each part of the table, each from any live server of that part, of that server's newest version. */
    private void askNaively() {
        long[] versions = new long[SERVERS_PER_GROUP];
        int[] left = {SERVERS_PER_GROUP};
        for (int part = 0; part < SERVERS_PER_GROUP; part++) {
            int of = part;
            List<VirtualServer> live = servers.stream()
                    .filter(server -> server.ordinal == of && server.isAlive())
                    .toList();
            if (live.isEmpty()) {
                return;
            }
            VirtualServer server = live.get(random.nextInt(live.size()));
            network.after(network.usualDelay(), () -> {
                versions[of] = server.newest();
                if (--left[0] == 0) {
                    naive++;
                    naiveMixed += versions[0] != versions[1] ? 1 : 0;
                }
            });
        }
    }

    /** Announces a version; a coordinator takes charge to roll it out, even if another one is still rolling out the previous version. */
    private void update() {
        long version = target.version() + 1;
        target = new Target(version, SHARDS[(int) ((version - 1) % SHARDS.length)], 2, GRACE);
        takeCharge();
        strike(KillPlan.Phase.ANNOUNCED, 0, null);
        network.after(random.nextInt(100) < EARLY_ONES ? random.nextLong(EARLY) : UPDATE_EVERY, this::update);
    }

    private void takeCharge() {
        coordinator = new VirtualCoordinator(
                ++termInCharge, target, servers, network, wires, () -> termInCharge, new CoordinatorWatch());
        coordinator.look();
    }

    private final class ServerWatch implements VirtualServer.Watch {
        @Override
        public void begun(VirtualServer server, Order order) {
            strike(order.isLoad() ? KillPlan.Phase.LOADING : KillPlan.Phase.UNLOADING, server.group, server);
        }

        @Override
        public void done(VirtualServer server, Order order) {
            maxVersions = Math.max(
                    maxVersions,
                    servers.stream()
                            .mapToInt(any -> any.view().versions().size())
                            .sum());
            strike(order.isLoad() ? KillPlan.Phase.LOADED : KillPlan.Phase.UNLOADED, server.group, server);
        }

        @Override
        public void fencedOff() {
            fencedOff++;
        }

        @Override
        public void outOfTurn() {
            outOfTurn++;
        }

        @Override
        public void changed() {
            incomplete += hasComplete() ? 0 : 1;
        }
    }

    private final class CoordinatorWatch implements VirtualCoordinator.Watch {
        private boolean isSettling;

        @Override
        public void sent(VirtualServer server, Order order) {
            if (order.makesRoom()) {
                strike(KillPlan.Phase.ROOM_SENT, 0, server);
            } else {
                strike(order.isLoad() ? KillPlan.Phase.LOAD_SENT : KillPlan.Phase.UNLOAD_SENT, server.group, server);
            }
        }

        @Override
        public void settling() {
            if (!isSettling) {
                isSettling = true;
                strike(KillPlan.Phase.SETTLING, 0, null);
            }
        }

        @Override
        public void rolled() {
            rolls++;
        }
    }

    /** May kill or replace a process in a phase that has just begun. */
    private void strike(KillPlan.Phase phase, int group, @Nullable VirtualServer at) {
        KillPlan.Victim victim = plan.next(phase, group);
        if (victim != null && strike(victim, at)) {
            plan.count(phase, group, victim);
        }
    }

    private boolean strike(KillPlan.Victim victim, @Nullable VirtualServer at) {
        return switch (victim) {
            case SERVER -> kill(Objects.requireNonNull(at));
            case OTHER_SERVER -> {
                List<VirtualServer> others =
                        servers.stream().filter(server -> server != at).toList();
                yield kill(others.get(random.nextInt(others.size())));
            }
            case COORDINATOR -> killCoordinator();
            case RIVAL -> {
                rivals++;
                takeCharge();
                yield true;
            }
        };
    }

    private boolean killCoordinator() {
        VirtualCoordinator killed = coordinator;
        if (killed == null || killed.isOver()) {
            return false;
        }
        killed.kill();
        coordinators++;
        long before = termInCharge;
        network.after(random.nextLong(UNATTENDED), () -> {
            if (termInCharge == before) {
                takeCharge();
            }
        });
        return true;
    }

    /** Kills a server if all are alive: two dead servers could be the only ones with parts of two versions. */
    private boolean kill(VirtualServer server) {
        if (!servers.stream().allMatch(VirtualServer::isAlive)) {
            return false;
        }
        kills++;
        server.kill();
        network.after(DOWN, server::restart);
        return true;
    }

    private void killAny() {
        kill(servers.get(random.nextInt(servers.size())));
        network.after(network.exponential(KILL_EVERY), this::killAny);
    }

    private boolean hasComplete() {
        KnownServers truth = new KnownServers();
        truth.setServers(byName.keySet());
        servers.stream().filter(VirtualServer::isAlive).forEach(server -> truth.learn(server.view()));
        return truth.newest(network.now()) != null;
    }
}
