package io.github.roost.cli.rows;

import io.github.roost.rows.service.Coordinator;
import io.github.roost.rows.service.Registry;
import io.github.roost.rows.service.RowsClient;
import io.github.roost.rows.service.RowsServer;
import io.github.roost.rows.service.etcd.EtcdRegistry;
import io.github.roost.rows.service.etcd.local.LocalEtcd;
import io.github.roost.testkit.TemporaryFolder;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Servers of one table on loopback, each a process, with etcd as their registry. Versions are rolled out and processes killed while a client
 * checks every row. Without etcd the servers are in this process, and none is killed. Closing it, by any thread, ends all processes.
 */
public final class RollingService implements AutoCloseable {
    private static final String TABLE = "items";
    /** Numbers of shards of successive versions, in turn: each version is resharded. */
    private static final int[] SHARDS = {3, 5, 4};
    /** Number of batches to wait for after a change, so that the client sees it. */
    private static final int SOME = 50;

    private final Settings settings;
    private final Consumer<String> log;
    private final TemporaryFolder folder;
    private final List<NodeProcess> processes = new ArrayList<>();
    private final List<ServiceNode> nodes = new ArrayList<>();
    private @Nullable LocalEtcd etcd;
    private @Nullable Registry registry;
    /** Used only by the coordinator's thread, which runs all steps. */
    private int maxVersions;

    private long maxBytes;
    private long bytesAtRest;
    private volatile boolean isClosed;

    /**
     * The settings of a run.
     *
     * @param servers number of servers, each with all shards
     * @param versions number of versions to roll out after the first
     * @param rows of each version
     * @param outage how long etcd is down, after each server was killed once; null to kill no process
     * @param roost command {@code roost}, as words
     */
    public record Settings(
            int servers, int versions, int rows, @Nullable Duration outage, List<String> roost) {}

    /**
     * The results of a run.
     *
     * @param processes whether servers were separate processes, with etcd
     * @param batches number of batches requested
     * @param failed batches without an answer by the deadline
     * @param wrong batches with rows that are missing, of other keys, or of another version than the batch says
     * @param byVersion number of batches per version
     * @param maxVersions maximum of versions in memory at once, over all servers, in versions of one server
     * @param maxMemory maximum memory of these versions, relative to the memory when all servers have one version
     * @param client the client's statistics
     * @param kills kills of servers and etcd
     */
    public record Seen(
            boolean processes,
            long batches,
            long failed,
            long wrong,
            Map<Long, Long> byVersion,
            int maxVersions,
            double maxMemory,
            RowsClient.Stats client,
            int kills) {}

    /**
     * Makes a service without starting it.
     *
     * @param log receives a message per step
     * @throws IOException if temporary files cannot be written
     */
    public RollingService(Settings settings, Consumer<String> log) throws IOException {
        this.settings = settings;
        this.log = log;
        this.folder = new TemporaryFolder("roost-table-service-");
    }

    /** Starts servers, rolls out versions, and kills processes as configured. */
    public Seen run() throws IOException, InterruptedException {
        Registry started = start();
        try (Coordinator coordinator = coordinator(started)) {
            roll(coordinator, 1);
            bytesAtRest = maxBytes;
            try (RowsClient client = new RowsClient(started)) {
                AskingClient asking = new AskingClient(client, TABLE, settings.rows);
                int kills;
                try (asking) {
                    asking.await(SOME);
                    for (long version = 2; version <= settings.versions + 1L; version++) {
                        roll(coordinator, version);
                        asking.await(SOME);
                    }
                    kills = settings.outage == null || etcd == null ? 0 : killEach(coordinator, asking, client);
                }
                if (asking.failed() > 0) {
                    say("the last batch without an answer: " + asking.lastFailure());
                }
                return new Seen(
                        etcd != null,
                        asking.batches(),
                        asking.failed(),
                        asking.wrong(),
                        new TreeMap<>(asking.byVersion()),
                        maxVersions,
                        maxBytes / (double) bytesAtRest,
                        client.stats(),
                        kills);
            }
        }
    }

    private void say(String line) {
        if (!isClosed) {
            log.accept(line);
        }
    }

    private Registry start() throws IOException, InterruptedException {
        Registry started;
        if (LocalEtcd.program().isPresent()) {
            LocalEtcd local = LocalEtcd.start(folder.resolve("etcd"));
            own(() -> etcd = local, local);
            say("etcd answers on " + local.endpoint());
            EtcdRegistry connected = EtcdRegistry.connect(List.of(local.endpoint()));
            own(() -> registry = connected, connected);
            started = connected;
            for (int i = 0; i < settings.servers; i++) {
                NodeProcess process = NodeProcess.start(
                        settings.roost,
                        "server" + i,
                        RowsServer.Seat.whole(i),
                        local.endpoint(),
                        folder.path(),
                        settings.rows);
                own(() -> processes.add(process), process);
            }
        } else {
            say("etcd is not installed (apt-get install etcd-server): all servers are in this process");
            started = Registry.inMemory();
            for (int i = 0; i < settings.servers; i++) {
                String name = "server" + i;
                ServiceNode node = ServiceNode.start(
                        new ServiceNode.Settings(
                                name,
                                TABLE,
                                RowsServer.Seat.whole(i),
                                folder.resolve(name),
                                RowsServer.Options.onLoopback(0),
                                null,
                                null),
                        started,
                        new DemoRows(settings.rows));
                own(() -> nodes.add(node), node);
            }
        }
        started.servers().forEach((server, address) -> say(server + " listens on " + address));
        return started;
    }

    /** Registers an object to be closed with this one; closes it at once if this is closed already. */
    private synchronized void own(Runnable keep, AutoCloseable started) {
        if (!isClosed) {
            keep.run();
            return;
        }
        try {
            started.close();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        throw new IllegalStateException("the service is closed");
    }

    private Coordinator coordinator(Registry started) {
        // Each step ends before the next begins, so no client request lasts longer than its deadline.
        Coordinator.Options options = new Coordinator.Options(
                2, AskingClient.DEADLINE.dividedBy(5), Duration.ofMinutes(5), null, null, new Coordinator.Observer() {
                    @Override
                    public void told(String what) {
                        say(what);
                    }

                    @Override
                    public void saw(int versions, long bytes) {
                        maxVersions = Math.max(maxVersions, versions);
                        maxBytes = Math.max(maxBytes, bytes);
                    }
                });
        return new Coordinator(started, TABLE, options);
    }

    private void roll(Coordinator coordinator, long version) throws InterruptedException {
        int shards = SHARDS[(int) (version % SHARDS.length)];
        coordinator.roll(version, shards);
        say("all servers have version " + version + " in " + shards + " shards");
    }

    /** Kills one server after another, then etcd. Each is restarted, and a version is rolled out after both phases. */
    private int killEach(Coordinator coordinator, AskingClient asking, RowsClient client)
            throws IOException, InterruptedException {
        long version = settings.versions + 2L;
        for (NodeProcess process : processes) {
            process.kill();
            say(process.name() + " is killed");
            asking.await(SOME);
            process.restart();
            say(process.name() + " is back");
            long before = answers(client, process.name());
            while (answers(client, process.name()) == before) {
                asking.await(1);
            }
            say(process.name() + " answers again");
        }
        roll(coordinator, version);
        LocalEtcd local = Objects.requireNonNull(etcd);
        Duration outage = Objects.requireNonNull(settings.outage);
        local.kill();
        say("etcd is killed, for " + outage.toSeconds() + " s");
        long before = asking.batches();
        Thread.sleep(outage);
        say("meanwhile %,d batches".formatted(asking.batches() - before));
        local.restart();
        say("etcd is back");
        roll(coordinator, version + 1);
        asking.await(SOME);
        return processes.size() + 1;
    }

    private static long answers(RowsClient client, String server) {
        return client.stats().answers().getOrDefault(server, 0L);
    }

    /** Ends all processes and deletes their files. A second call does nothing. */
    @Override
    public synchronized void close() throws IOException {
        if (isClosed) {
            return;
        }
        isClosed = true;
        processes.forEach(NodeProcess::end);
        processes.forEach(NodeProcess::close);
        nodes.forEach(ServiceNode::close);
        if (registry != null) {
            registry.close();
        }
        if (etcd != null) {
            etcd.close();
        }
        folder.close();
    }
}
