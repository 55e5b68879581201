package io.github.roost.rows.service.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.roost.rows.Column;
import io.github.roost.rows.RowWriter;
import io.github.roost.rows.Schema;
import io.github.roost.rows.service.Coordinator;
import io.github.roost.rows.service.Registry;
import io.github.roost.rows.service.RowSource;
import io.github.roost.rows.service.RowsClient;
import io.github.roost.rows.service.RowsNode;
import io.github.roost.rows.service.RowsServer;
import io.github.roost.rows.service.Served;
import io.github.roost.rows.service.etcd.local.LocalEtcd;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three servers and four coordinators, each a process, are killed in the midst of rolls, while a client fetches batches: servers wait where they load, and coordinators after
 * what they tell, so that it is known in which phase that is.
 */
@Tag("program")
@Timeout(value = 300, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@SuppressWarnings({"NullAway.Init", "try"})
class KilledRollTest {
    private static final String ITEMS = "items";
    private static final int SERVERS = 3;
    private static final int KEYS = 300;
    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final Duration GRACE = Duration.ofMillis(300);
    /** Of a coordinator that is held while it waits for clients: on a slow machine the other grace may be over before it waits. */
    private static final Duration LONG_GRACE = Duration.ofSeconds(5);

    private static final Duration DEADLINE = Duration.ofSeconds(10);
    /** Batches that are waited for, so that what has happened is seen by some. */
    private static final int SOME = 10;

    private static final long PAUSE_NANOS = 10_000_000;

    @TempDir
    Path folder;

    private LocalEtcd etcd;
    private EtcdRegistry registry;
    private RowsClient client;
    private Asking asking;
    private final List<Child> servers = new ArrayList<>();
    private final List<Child> coordinators = new ArrayList<>();

    /** Rows that tell of their key and version. A load says so, and waits for a line. */
    private static final class Rows implements RowSource {
        @Override
        public Schema schema(long version) {
            return Schema.of(Column.ofLong("version"), Column.ofLong("key"));
        }

        @Override
        public void load(long version, Served shards, Sink to) throws IOException {
            sayAndWait("loading " + version);
            RowWriter row = to.writer();
            for (long key = 0; key < KEYS; key++) {
                to.put(key, row.setLong(0, version).setLong(1, key));
            }
        }
    }

    private static void sayAndWait(String line) throws IOException {
        System.out.println(line);
        for (int read = System.in.read(); read != '\n'; read = System.in.read()) {
            if (read < 0) {
                throw new IOException("whoever would let it go on is gone");
            }
        }
    }

    /** A server: name, group, folder, registry. */
    static final class ServerProcess {
        private ServerProcess() {}

        public static void main(String[] arguments) throws Exception {
            String name = arguments[0];
            try (EtcdRegistry registry = EtcdRegistry.connect(
                            List.of(URI.create(arguments[3])), EtcdRegistry.Options.DEFAULT.withLease(LEASE));
                    RowsNode node = RowsNode.open(name, Path.of(arguments[2]));
                    RowsServer server = RowsServer.start(
                            Map.of(ITEMS, node),
                            RowsServer.Options.onLoopback(0),
                            new RowsServer.Orders(
                                    registry,
                                    RowsServer.Seat.whole(Integer.parseInt(arguments[1])),
                                    Map.of(ITEMS, new Rows()),
                                    null));
                    Registry.Registration there = registry.register(name, server.address())) {
                System.out.println("ready");
                Thread.currentThread().join();
            }
        }
    }

    /** A coordinator, which waits for a line after each thing that it tells: registry, version, grace. */
    static final class CoordinatorProcess {
        private CoordinatorProcess() {}

        public static void main(String[] arguments) throws Exception {
            try (EtcdRegistry registry = EtcdRegistry.connect(
                            List.of(URI.create(arguments[0])), EtcdRegistry.Options.DEFAULT.withLease(LEASE));
                    Coordinator coordinator = coordinator(registry, Duration.parse(arguments[2]), teller())) {
                coordinator.roll(Long.parseLong(arguments[1]), shards(Long.parseLong(arguments[1])));
            }
        }

        private static Coordinator.Observer teller() {
            return new Coordinator.Observer() {
                @Override
                public void told(String what) {
                    try {
                        sayAndWait(what);
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                }
            };
        }
    }

    private static Duration grace(@Nullable String hold) {
        return hold != null && hold.startsWith("waiting") ? LONG_GRACE : GRACE;
    }

    private static Coordinator coordinator(Registry registry, Duration grace, Coordinator.Observer observer) {
        return new Coordinator(
                registry, ITEMS, new Coordinator.Options(2, grace, Duration.ofMinutes(1), null, null, observer));
    }

    /** A coordinator of this process, which is held where it tells a line. */
    private final class Rolling implements Coordinator.Observer {
        private final String hold;
        private final CountDownLatch held = new CountDownLatch(1);
        private final CountDownLatch release = new CountDownLatch(1);
        private final FutureTask<Boolean> roll;

        Rolling(long version, String hold) {
            this.hold = hold;
            this.roll = new FutureTask<>(() -> {
                try (Coordinator coordinator = coordinator(registry, grace(hold), this)) {
                    coordinator.roll(version, shards(version));
                    return true;
                }
            });
            Thread.ofPlatform().daemon().start(roll);
        }

        @Override
        public void told(String what) {
            if (what.equals(hold)) {
                held.countDown();
                try {
                    release.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    private static int shards(long version) {
        return 2 + (int) (version % 3);
    }

    /** A process that waits for a line after each one that it says, which it is given at once but for the one that is held. */
    private static final class Child {
        private final Process process;
        private final LinkedBlockingQueue<String> held = new LinkedBlockingQueue<>();
        private final CompletableFuture<String> ready = new CompletableFuture<>();
        private volatile @Nullable String hold;

        Child(Class<?> program, @Nullable String hold, Object... arguments) throws IOException {
            List<String> command = new ArrayList<>(List.of(
                    ProcessHandle.current().info().command().orElse("java"),
                    "--enable-native-access=ALL-UNNAMED",
                    "-XX:TieredStopAtLevel=1",
                    "-XX:+UseSerialGC",
                    "-cp",
                    System.getProperty("java.class.path"),
                    program.getName()));
            for (Object argument : arguments) {
                command.add(argument.toString());
            }
            this.hold = hold;
            this.process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            Thread.ofPlatform().daemon().start(this::listen);
        }

        private void listen() {
            try (BufferedReader lines = process.inputReader()) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    if (line.equals("ready")) {
                        ready.complete(line);
                    } else if (line.equals(hold)) {
                        held.add(line);
                    } else {
                        resume();
                    }
                }
            } catch (IOException e) {
                // It was killed.
            } finally {
                ready.completeExceptionally(new IllegalStateException("the process has ended"));
                held.add("has ended");
            }
        }

        void hold(String line) {
            hold = line;
        }

        /** Waits until it is where it is held. */
        void awaitHeld() throws InterruptedException {
            assertThat(held.take()).isEqualTo(hold);
        }

        void resume() {
            try {
                process.getOutputStream().write('\n');
                process.getOutputStream().flush();
            } catch (IOException e) {
                // It was killed.
            }
        }

        void kill() throws InterruptedException {
            process.destroyForcibly().waitFor();
        }
    }

    /** Fetches batch after batch, and checks every row. */
    private final class Asking {
        private final Semaphore done = new Semaphore(0);
        private final LinkedBlockingQueue<String> faults = new LinkedBlockingQueue<>();
        private final Thread thread = Thread.ofPlatform().daemon().unstarted(this::ask);
        private volatile boolean isOver;

        private void ask() {
            SplittableRandom random = new SplittableRandom(28);
            while (!isOver) {
                long[] keys = random.longs(20, 0, KEYS).toArray();
                try {
                    check(keys, client.fetch(ITEMS, keys, DEADLINE).join());
                } catch (CompletionException e) {
                    faults.add("no answer: " + e.getCause());
                }
                done.release();
                // So that servers and coordinators find a processor.
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }

        private void check(long[] keys, RowsClient.FetchedRows rows) {
            for (int i = 0; i < keys.length; i++) {
                if (!rows.isPresent(i)
                        || rows.batch(i).getLong(rows.row(i), 0) != rows.version()
                        || rows.batch(i).getLong(rows.row(i), 1) != keys[i]) {
                    faults.add("key " + keys[i] + " has no row or another one in version " + rows.version());
                }
            }
        }

        void awaitSome() throws InterruptedException {
            done.drainPermits();
            done.acquire(SOME);
        }
    }

    @BeforeEach
    void start() throws Exception {
        assumeTrue(LocalEtcd.program().isPresent(), "needs etcd: apt-get install etcd-server");
        etcd = LocalEtcd.start(folder.resolve("etcd"));
        registry = EtcdRegistry.connect(List.of(etcd.endpoint()), EtcdRegistry.Options.DEFAULT.withLease(LEASE));
        for (int i = 0; i < SERVERS; i++) {
            servers.add(server(i));
        }
        for (Child server : servers) {
            server.ready.join();
        }
        finish(1);
        client = new RowsClient(registry);
        asking = new Asking();
        asking.thread.start();
        asking.awaitSome();
    }

    private Child server(int i) throws IOException {
        return new Child(ServerProcess.class, null, name(i), i, folder.resolve(name(i)), etcd.endpoint());
    }

    private static String name(int i) {
        return "s" + i;
    }

    @AfterEach
    void stop() throws Exception {
        if (asking != null) {
            asking.isOver = true;
            asking.thread.join();
            client.close();
        }
        for (Child child : servers) {
            child.kill();
        }
        for (Child child : coordinators) {
            child.kill();
        }
        if (registry != null) {
            registry.close();
        }
        if (etcd != null) {
            etcd.close();
        }
    }

    /** A coordinator in a process, up to what it tells. */
    private Child rollUpTo(long version, String told) throws Exception {
        Child child = new Child(CoordinatorProcess.class, told, etcd.endpoint(), version, grace(told));
        coordinators.add(child);
        child.awaitHeld();
        return child;
    }

    /** Another coordinator brings all servers to a version, which is then the only one at any of them. */
    private void finish(long version) throws InterruptedException {
        AtomicInteger seen = new AtomicInteger();
        try (Coordinator next = coordinator(registry, GRACE, new Coordinator.Observer() {
            @Override
            public void saw(int versions, long bytes) {
                seen.set(versions);
            }
        })) {
            // A server that finds no processor for the length of its lease is not registered for a while.
            while (seen.get() < SERVERS) {
                next.roll(version, shards(version));
            }
        }
        assertThat(seen).hasValue(SERVERS);
    }

    private void awaitVersion(long version) throws InterruptedException {
        asking.awaitSome();
        assertThat(asking.faults).isEmpty();
        RowsClient.FetchedRows rows =
                client.fetch(ITEMS, new long[] {1, 2, 3}, DEADLINE).join();
        assertThat(rows.version()).isEqualTo(version);
    }

    private void killAndRestart(int i, Rolling rolling, long version) throws Exception {
        servers.get(i).kill();
        asking.awaitSome();
        rolling.release.countDown();
        asking.awaitSome();
        servers.set(i, server(i));
        servers.get(i).ready.join();
        assertThat(rolling.roll.get()).isTrue();
        finish(version);
        awaitVersion(version);
    }

    @Test
    void whoeverIsKilledInTheMidstOfARollItIsFinishedAndNoBatchIsWrongOrUnanswered() throws Exception {
        killServers();
        killCoordinators();
    }

    /** Each once, each in another phase. */
    private void killServers() throws Exception {
        servers.getFirst().hold("loading 2");
        Rolling loading = new Rolling(2, "none");
        servers.getFirst().awaitHeld();
        killAndRestart(0, loading, 2);
        // It is about to give up the version before.
        Rolling loaded = new Rolling(3, "server s1 has version 3");
        loaded.held.await();
        killAndRestart(1, loaded, 3);
        // It has the version before for the clients that still ask for it.
        Rolling settling = new Rolling(4, "waiting: version 3 is complete in no other group than 2");
        settling.held.await();
        killAndRestart(2, settling, 4);
    }

    private void killCoordinators() throws Exception {
        servers.get(1).hold("loading 5");
        Child loading = new Child(CoordinatorProcess.class, null, etcd.endpoint(), 5, GRACE);
        coordinators.add(loading);
        servers.get(1).awaitHeld();
        loading.kill();
        asking.awaitSome();
        servers.get(1).resume();
        finish(5);
        awaitVersion(5);
        String[] phases = {
            "server s0 has version 6",
            "server s1 gives up version 6",
            "waiting: version 7 is complete in no other group than 2"
        };
        for (int i = 0; i < phases.length; i++) {
            long version = 6L + i;
            rollUpTo(version, phases[i]).kill();
            asking.awaitSome();
            finish(version);
            awaitVersion(version);
        }
        Rolling halted = new Rolling(9, "server s1 has version 9");
        halted.held.await();
        finish(9);
        halted.release.countDown();
        assertThatThrownBy(halted.roll::get)
                .hasRootCauseInstanceOf(IllegalStateException.class)
                .rootCause()
                .hasMessageEndingWith("is in charge, not one of term " + (registry.termInCharge(ITEMS) - 1));
        awaitVersion(9);
    }
}
