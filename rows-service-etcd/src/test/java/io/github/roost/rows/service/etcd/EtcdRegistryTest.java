package io.github.roost.rows.service.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.roost.rows.service.Registry;
import io.github.roost.rows.service.Registry.Announced;
import io.github.roost.rows.service.Registry.Registration;
import io.github.roost.rows.service.RegistryContract;
import io.github.roost.rows.service.etcd.local.LocalEtcd;
import io.github.roost.testkit.Await;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract, over two connections to a real etcd, and what only a registry of another process does. */
@Tag("program")
@SuppressWarnings({"NullAway.Init", "try"})
class EtcdRegistryTest extends RegistryContract {
    private static final InetSocketAddress HERE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 4_711);
    private static final Duration LEASE = Duration.ofSeconds(2);

    @TempDir
    private Path folder;

    private LocalEtcd etcd;
    private EtcdRegistry one;
    private EtcdRegistry other;

    @BeforeAll
    static void requireEtcd() {
        assumeTrue(LocalEtcd.program().isPresent(), "needs etcd: apt-get install etcd-server");
    }

    @BeforeEach
    void start() throws Exception {
        etcd = LocalEtcd.start(folder.resolve("etcd"));
        one = EtcdRegistry.connect(List.of(etcd.endpoint()), EtcdRegistry.Options.DEFAULT.withLease(LEASE));
        other = EtcdRegistry.connect(List.of(etcd.endpoint()), EtcdRegistry.Options.DEFAULT.withLease(LEASE));
    }

    @AfterEach
    void stop() {
        one.close();
        other.close();
        etcd.close();
    }

    @Override
    protected Registry one() {
        return one;
    }

    @Override
    protected Registry other() {
        return other;
    }

    private static void await(
            LinkedBlockingQueue<Map<String, InetSocketAddress>> told, Map<String, InetSocketAddress> wanted)
            throws InterruptedException {
        while (!told.take().equals(wanted)) {
            // Something else has changed.
        }
    }

    @Test
    void aServerWhoseProcessHasEndedIsForgottenWhenItsLeaseEnds() throws Exception {
        LinkedBlockingQueue<Map<String, InetSocketAddress>> told = new LinkedBlockingQueue<>();
        try (Registration watch = one.watch(told::add)) {
            EtcdRegistry third =
                    EtcdRegistry.connect(List.of(etcd.endpoint()), EtcdRegistry.Options.DEFAULT.withLease(LEASE));
            third.register("server 0", HERE);
            await(told, Map.of("server 0", HERE));
            third.abandon();
            await(told, Map.of());
        }
    }

    @Test
    void theSuccessorOfAServerThatWasKilledHasItsNameWhenTheLeaseHasEnded() {
        EtcdRegistry third =
                EtcdRegistry.connect(List.of(etcd.endpoint()), EtcdRegistry.Options.DEFAULT.withLease(LEASE));
        third.register("server 0", HERE);
        third.abandon();
        InetSocketAddress elsewhere = new InetSocketAddress(InetAddress.getLoopbackAddress(), 4_713);
        try (Registration registration = one.register("server 0", elsewhere)) {
            assertThat(other.servers()).isEqualTo(Map.of("server 0", elsewhere));
        }
    }

    @Test
    void whileEtcdIsKilledWhatWasKnownStandsAndAfterwardsAllIsThereAgain() throws Exception {
        LinkedBlockingQueue<Map<String, InetSocketAddress>> told = new LinkedBlockingQueue<>();
        long term = one.takeCharge("items");
        one.announce("items", term, 0, new Announced(1, 3));
        try (Registration watch = other.watch(told::add);
                Registration registration = one.register("server 0", HERE)) {
            await(told, Map.of("server 0", HERE));
            etcd.kill();
            assertThatThrownBy(() -> one.servers())
                    .isInstanceOf(UncheckedIOException.class)
                    .hasMessageContaining("the registry at [" + etcd.endpoint() + "] does not answer");
            assertThatThrownBy(() -> one.takeCharge("items")).isInstanceOf(UncheckedIOException.class);
            assertThatThrownBy(() -> one.register("server 1", HERE)).isInstanceOf(UncheckedIOException.class);
            // Whoever renews a lease has missed it, so that the servers must be entered again, or the lease renewed in
            // time.
            Await.until(() -> one.failedRounds() > EtcdRegistry.ROUNDS_PER_LEASE);
            LinkedBlockingQueue<Map<String, InetSocketAddress>> late = new LinkedBlockingQueue<>();
            other.watch(late::add).close();
            assertThat(late.take()).isEqualTo(Map.of("server 0", HERE));
            assertThat(told).isEmpty();
            etcd.restart();
            try (Registration second = awaitRegistration("server 1")) {
                await(told, Map.of("server 0", HERE, "server 1", HERE));
            }
            assertThat(one.announced("items")).contains(new Announced(1, 3));
            assertThat(one.takeCharge("items")).isGreaterThan(term);
        }
    }

    private Registration awaitRegistration(String server) {
        List<Registration> made = new ArrayList<>();
        Await.until(() -> {
            try {
                return made.add(one.register(server, HERE));
            } catch (UncheckedIOException notYet) {
                return false;
            }
        });
        return made.getFirst();
    }

    @Test
    void whoWaitsForANameIsToldThatTheRegistryIsClosed() throws Exception {
        one.register("server 0", HERE);
        CompletableFuture<Registration> waiting =
                CompletableFuture.supplyAsync(() -> other.register("server 0", HERE), Thread::startVirtualThread);
        Thread.sleep(300);
        other.close();
        assertThatThrownBy(() -> waiting.get(20, TimeUnit.SECONDS))
                .hasCauseInstanceOf(RejectedExecutionException.class);
    }

    @Test
    void aServerIsEnteredAgainWhenItsLeaseIsLost() throws Exception {
        LinkedBlockingQueue<Map<String, InetSocketAddress>> told = new LinkedBlockingQueue<>();
        try (Registration registration = one.register("server 0", HERE);
                Registration watch = other.watch(told::add)) {
            await(told, Map.of("server 0", HERE));
            // Its entry is gone when this returns. The watch lists servers, so it may miss the moment without the
            // entry.
            one.loseLease();
            Await.until(() -> other.servers().equals(Map.of("server 0", HERE)));
        }
    }

    @Test
    void whatCannotBeARegistryIsRefused() {
        for (String wrong : List.of("ftp://127.0.0.1:2379", "localhost:2379", "http://127.0.0.1")) {
            assertThatThrownBy(() -> EtcdRegistry.connect(List.of(URI.create(wrong))))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("got " + wrong);
        }
        assertThatThrownBy(() -> EtcdRegistry.connect(List.of())).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> EtcdRegistry.Options.DEFAULT.withLease(Duration.ofMillis(1_999)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> EtcdRegistry.connect(List.of(URI.create("http://127.0.0.1:1"))))
                .isInstanceOf(UncheckedIOException.class);
    }
}
