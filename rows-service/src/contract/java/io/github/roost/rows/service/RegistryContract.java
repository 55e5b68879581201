package io.github.roost.rows.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.rows.service.Registry.Announced;
import io.github.roost.rows.service.Registry.Registration;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What every registry does, seen over two connections to one. */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@SuppressWarnings("try")
public abstract class RegistryContract {
    private static final InetSocketAddress HERE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 4_711);
    private static final InetSocketAddress THERE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 4_712);
    private static final String TABLE = "items/of shop";

    /** One connection. */
    protected abstract Registry one();

    /** Another one to the same registry. */
    protected abstract Registry other();

    /** What a listener is told, until it is as wanted. */
    private static void await(
            LinkedBlockingQueue<Map<String, InetSocketAddress>> told, Predicate<Map<String, InetSocketAddress>> wanted)
            throws InterruptedException {
        while (!wanted.test(told.take())) {
            // Something else has changed.
        }
    }

    @Test
    void aServerIsThereUntilItsRegistrationIsClosed() throws InterruptedException {
        LinkedBlockingQueue<Map<String, InetSocketAddress>> told = new LinkedBlockingQueue<>();
        try (Registration watch = other().watch(told::add)) {
            assertThat(told.take()).isEmpty();
            Registration registration = one().register("server 0/1", HERE);
            await(told, servers -> servers.equals(Map.of("server 0/1", HERE)));
            assertThat(other().servers()).isEqualTo(Map.of("server 0/1", HERE));
            try (Registration second = other().register("server 1", THERE)) {
                await(told, servers -> servers.equals(Map.of("server 0/1", HERE, "server 1", THERE)));
            }
            await(told, servers -> servers.size() == 1);
            registration.close();
            registration.close();
            await(told, Map::isEmpty);
        }
    }

    @Test
    void aRegistrationThatIsClosedTwiceLeavesItsSuccessor() {
        Registration former = one().register("server 0", HERE);
        former.close();
        try (Registration next = one().register("server 0", HERE)) {
            former.close();
            assertThat(other().servers()).containsOnlyKeys("server 0");
        }
    }

    @Test
    void aNameIsOfOneServer() {
        try (Registration registration = one().register("server 0", HERE)) {
            for (Registry registry : List.of(one(), other())) {
                assertThatThrownBy(() -> registry.register("server 0", THERE))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessage("server must have a name of its own, got server 0, which is there");
            }
            assertThat(one().servers()).isEqualTo(Map.of("server 0", HERE));
        }
        other().register("server 0", THERE).close();
    }

    @Test
    void whoHasEndedToWatchIsToldNoMore() throws InterruptedException {
        LinkedBlockingQueue<Map<String, InetSocketAddress>> ended = new LinkedBlockingQueue<>();
        LinkedBlockingQueue<Map<String, InetSocketAddress>> told = new LinkedBlockingQueue<>();
        one().watch(ended::add).close();
        try (Registration watch = one().watch(told::add);
                Registration registration = other().register("server 0", HERE)) {
            await(told, servers -> !servers.isEmpty());
        }
        assertThat(ended).hasSize(1);
    }

    @Test
    void whoTakesChargeIsAboveAllBefore() {
        assertThat(one().termInCharge(TABLE)).isZero();
        long first = one().takeCharge(TABLE);
        long second = other().takeCharge(TABLE);
        assertThat(second).isGreaterThan(first);
        assertThat(one().termInCharge(TABLE)).isEqualTo(second);
        assertThat(one().takeCharge(TABLE, 1_000)).isEqualTo(1_001);
        assertThat(other().takeCharge(TABLE, 17)).isEqualTo(1_002);
        assertThat(one().termInCharge("another")).isZero();
    }

    @Test
    void termsThatAreTakenAtOnceDiffer() throws Exception {
        int times = 20;
        CountDownLatch start = new CountDownLatch(1);
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            List<Future<List<Long>>> futures = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                Registry registry = i % 2 == 0 ? one() : other();
                Callable<List<Long>> takes = () -> {
                    start.await();
                    List<Long> terms = new ArrayList<>();
                    for (int j = 0; j < times; j++) {
                        terms.add(registry.takeCharge(TABLE));
                    }
                    return terms;
                };
                futures.add(threads.submit(takes));
            }
            start.countDown();
            TreeSet<Long> all = new TreeSet<>();
            for (Future<List<Long>> future : futures) {
                assertThat(future.get()).isSorted();
                all.addAll(future.get());
            }
            assertThat(all).hasSize(4 * times);
        }
    }

    @Test
    void aVersionIsAnnouncedByWhoIsInCharge() {
        assertThat(one().announced(TABLE)).isEmpty();
        long former = one().takeCharge(TABLE);
        assertThat(one().announce(TABLE, former, 0, new Announced(1, 3))).isTrue();
        long now = other().takeCharge(TABLE);
        assertThatThrownBy(() -> one().announce(TABLE, former, 1, new Announced(2, 5)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("a coordinator of term " + now + " is in charge, not one of term " + former);
        assertThatThrownBy(() -> one().announce(TABLE, former, 7, new Announced(2, 5)))
                .isInstanceOf(IllegalStateException.class);
        assertThat(one().announced(TABLE)).contains(new Announced(1, 3));
        assertThat(other().announce(TABLE, now, 0, new Announced(2, 5))).isFalse();
        assertThat(other().announce(TABLE, now, 1, new Announced(2, 5))).isTrue();
        // Once its content is known, the same version is announced with it.
        assertThat(one().announce(TABLE, now, 2, new Announced(2, 5, -7))).isTrue();
        assertThat(other().announced(TABLE)).contains(new Announced(2, 5, -7));
        assertThat(one().announced("another")).isEmpty();
    }

    @Test
    void ofTwoThatAnnounceAtOnceOneDoes() throws Exception {
        long term = one().takeCharge(TABLE);
        try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
            for (long version = 1; version <= 20; version++) {
                Announced next = new Announced(version, 3);
                long before = version - 1;
                Future<Boolean> first = threads.submit(() -> one().announce(TABLE, term, before, next));
                Future<Boolean> second = threads.submit(() -> other().announce(TABLE, term, before, next));
                assertThat(first.get() ^ second.get()).isTrue();
            }
        }
    }
}
