package io.github.roost.examples.tableservice;

import io.github.roost.table.Column;
import io.github.roost.table.RowWriter;
import io.github.roost.table.Schema;
import io.github.roost.tableservice.FetchedRows;
import io.github.roost.tableservice.InMemoryRegistry;
import io.github.roost.tableservice.RollingUpdate;
import io.github.roost.tableservice.RollingUpdate.Step;
import io.github.roost.tableservice.RollingUpdate.Target;
import io.github.roost.tableservice.RowSource;
import io.github.roost.tableservice.Served;
import io.github.roost.tableservice.ServerOptions;
import io.github.roost.tableservice.TableClient;
import io.github.roost.tableservice.TableNode;
import io.github.roost.tableservice.TableServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Servers of one table on loopback, in this process: versions are rolled out over them, beside a client that checks every row. */
public final class RollingService {
    private static final String TABLE = "items";
    private static final Schema SCHEMA = Schema.of(Column.ofLong("version"), Column.ofBytes("value"));
    private static final int VALUE_BYTES = 1_024;
    private static final int BATCH = 100;
    /** Shards of a version, in turn: every version is sharded anew. */
    private static final int[] SHARDS = {3, 5, 4};

    private static final Duration DEADLINE = Duration.ofSeconds(5);

    private RollingService() {}

    /**
     * What the client saw.
     *
     * @param batches that it asked for
     * @param failed of these, without an answer by the deadline
     * @param mixed with rows of several versions, or of another than the batch says
     * @param byVersion batches by the version that they were of
     * @param mostVersions most versions in memory at once, over all servers, in versions of one server
     */
    public record Seen(long batches, long failed, long mixed, Map<Long, Long> byVersion, int mostVersions) {}

    private record Node(String name, TableNode tables, TableServer server) {}

    /**
     * Starts servers, rolls versions out, and stops them.
     *
     * @param servers each with all shards
     * @param versions to roll out after the first
     * @param rows of each version
     * @param log is told of every step
     * @throws IOException if a server cannot write its files
     */
    public static Seen run(int servers, int versions, int rows, Consumer<String> log)
            throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory("roost-table-service-");
        List<Node> nodes = new ArrayList<>();
        try (InMemoryRegistry registry = new InMemoryRegistry()) {
            RowSource source = source(rows);
            for (int i = 0; i < servers; i++) {
                String name = "server " + i;
                TableNode tables = TableNode.open(name, folder.resolve("server" + i));
                TableServer server = TableServer.start(Map.of(TABLE, tables), ServerOptions.onLoopback(0));
                nodes.add(new Node(name, tables, server));
                registry.register(name, server.address());
                log.accept(name + " listens on " + server.address());
            }
            long term = registry.takeCharge(TABLE);
            roll(nodes, term, 1, source, log);
            try (TableClient client = new TableClient(registry)) {
                return rollBesideClient(client, nodes, term, versions, rows, log, source);
            }
        } finally {
            nodes.forEach(node -> node.server.close());
            nodes.forEach(node -> node.tables.close());
            delete(folder);
        }
    }

    private static Seen rollBesideClient(
            TableClient client,
            List<Node> nodes,
            long term,
            int versions,
            int rows,
            Consumer<String> log,
            RowSource source)
            throws IOException, InterruptedException {
        AtomicBoolean isOver = new AtomicBoolean();
        Asking asking = new Asking(client, rows, isOver);
        Thread thread = Thread.ofPlatform().name("client").start(asking);
        int most = 0;
        try {
            for (long version = 2; version <= versions + 1L; version++) {
                most = Math.max(most, roll(nodes, term, version, source, log));
            }
        } finally {
            isOver.set(true);
            thread.join();
        }
        return new Seen(asking.batches, asking.failed, asking.mixed, asking.byVersion, most);
    }

    /** Fetches batch after batch. Its counts are read once its thread has ended. */
    private static final class Asking implements Runnable {
        private final TableClient client;
        private final int rows;
        private final AtomicBoolean isOver;
        private final Map<Long, Long> byVersion = new LinkedHashMap<>();
        private long batches;
        private long failed;
        private long mixed;

        Asking(TableClient client, int rows, AtomicBoolean isOver) {
            this.client = client;
            this.rows = rows;
            this.isOver = isOver;
        }

        @Override
        public void run() {
            SplittableRandom random = new SplittableRandom(28);
            while (!isOver.get()) {
                batches++;
                try {
                    FetchedRows found = client.fetch(
                                    TABLE, random.longs(BATCH, 0, rows).toArray(), DEADLINE)
                            .join();
                    byVersion.merge(found.version(), 1L, Long::sum);
                    mixed += isOfOneVersion(found) ? 0 : 1;
                } catch (CompletionException e) {
                    failed++;
                }
            }
        }

        private static boolean isOfOneVersion(FetchedRows found) {
            for (int i = 0; i < found.size(); i++) {
                if (!found.isPresent(i) || found.batch(i).getLong(found.row(i), 0) != found.version()) {
                    return false;
                }
            }
            return true;
        }
    }

    /** Does steps until all servers have the version alone; the most versions that were in memory. */
    private static int roll(List<Node> nodes, long term, long version, RowSource source, Consumer<String> log)
            throws IOException, InterruptedException {
        int shards = SHARDS[(int) (version % SHARDS.length)];
        // Each step ends before the next begins, so of clients none is longer under way than its deadline.
        Target target = new Target(version, shards, 2, DEADLINE.toNanos() / 5);
        long settledSince = 0;
        int most = 0;
        while (true) {
            List<RollingUpdate.Server> seen = seen(nodes);
            most = Math.max(
                    most,
                    seen.stream().mapToInt(server -> server.versions().size()).sum());
            boolean isComplete = RollingUpdate.isComplete(seen, target);
            settledSince = !isComplete ? 0 : settledSince == 0 ? System.nanoTime() : settledSince;
            long settled = settledSince == 0 ? 0 : System.nanoTime() - settledSince;
            switch (RollingUpdate.next(seen, target, settled)) {
                case Step.Load load -> {
                    named(nodes, load.server()).tables.load(term, load.version(), load.served(), source);
                    log.accept(load.server() + " has version " + load.version() + " in " + shards + " shards");
                }
                case Step.Unload unload -> {
                    named(nodes, unload.server()).tables.unload(term, unload.version());
                    log.accept(unload.server() + " gives up version " + unload.version());
                }
                case Step.Wait wait -> Thread.sleep(20);
                case Step.Done done -> {
                    return most;
                }
            }
        }
    }

    private static List<RollingUpdate.Server> seen(List<Node> nodes) {
        List<RollingUpdate.Server> seen = new ArrayList<>();
        for (int group = 0; group < nodes.size(); group++) {
            Node node = nodes.get(group);
            seen.add(new RollingUpdate.Server(
                    node.name, group, 0, true, node.tables.view().versions()));
        }
        return seen;
    }

    private static Node named(List<Node> nodes, String name) {
        return nodes.stream().filter(node -> node.name.equals(name)).findFirst().orElseThrow();
    }

    private static RowSource source(int rows) {
        return new RowSource() {
            @Override
            public Schema schema(long version) {
                return SCHEMA;
            }

            @Override
            public void load(long version, Served shards, Sink to) {
                RowWriter row = to.writer();
                byte[] value = new byte[VALUE_BYTES];
                for (long key = 0; key < rows; key++) {
                    to.put(key, row.setLong(0, version).setBytes(1, value));
                }
            }
        };
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
