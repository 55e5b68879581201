package io.github.roost.vector.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.topology.Pinner;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import io.github.roost.topology.system.ProcessCpus;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ScratchPoolTest {
    private static final int PLACES = 5;

    private final AtomicInteger made = new AtomicInteger();
    private final ScratchPool<AtomicBoolean> pool = new ScratchPool<>(PLACES, () -> {
        made.incrementAndGet();
        return new AtomicBoolean();
    });

    @Test
    void whatWasGivenBackIsTakenAgain() {
        AtomicBoolean scratch = pool.take();
        pool.giveBack(scratch);
        assertThat(pool.take()).isSameAs(scratch);
    }

    @Test
    void whoTakesTwoHasDifferentOnes() {
        assertThat(pool.take()).isNotSameAs(pool.take());
    }

    @Test
    void aThreadPerSearchFindsWhatTheLastGaveBack() throws Exception {
        for (int i = 0; i < 1_000; i++) {
            Thread.ofVirtual().start(() -> pool.giveBack(pool.take())).join();
        }
        assertThat(made).hasValue(1);
    }

    @Test
    void oneMoreThanThePlacesIsDropped() {
        List<AtomicBoolean> taken = new ArrayList<>();
        for (int i = 0; i <= PLACES; i++) {
            taken.add(pool.take());
        }
        taken.forEach(pool::giveBack);
        List<AtomicBoolean> again = new ArrayList<>();
        for (int i = 0; i < PLACES; i++) {
            again.add(pool.take());
        }
        assertThat(again).doesNotHaveDuplicates().isSubsetOf(taken);
        assertThat(made).hasValue(PLACES + 1);
        pool.take();
        assertThat(made).hasValue(PLACES + 2);
    }

    @Test
    void anOwnerOfAllObjectsCanCloseThem() {
        List<AtomicBoolean> taken = new ArrayList<>();
        for (int i = 0; i <= PLACES; i++) {
            taken.add(pool.take());
        }
        List<AtomicBoolean> closed = new ArrayList<>();
        for (AtomicBoolean each : taken) {
            if (!pool.giveBack(each)) {
                closed.add(each);
            }
        }
        assertThat(closed).hasSize(1);
        for (AtomicBoolean kept = pool.takeKept(); kept != null; kept = pool.takeKept()) {
            closed.add(kept);
        }
        assertThat(closed).containsExactlyInAnyOrderElementsOf(taken);
        assertThat(made).hasValue(PLACES + 1);
    }

    @Test
    void whatIsKeptIsVisitedOnceAndStaysAndWhatIsInUseIsNot() {
        List<AtomicBoolean> taken = List.of(pool.take(), pool.take(), pool.take());
        pool.giveBack(taken.get(0));
        pool.giveBack(taken.get(2));
        List<AtomicBoolean> visited = new ArrayList<>();
        pool.visitKept(visited::add);
        assertThat(visited).containsExactlyInAnyOrder(taken.get(0), taken.get(2));
        assertThat(List.of(pool.take(), pool.take())).containsExactlyInAnyOrderElementsOf(visited);
        assertThat(made).hasValue(3);
    }

    @Test
    void aPoolOfAPinnedThreadHasPlacesForEveryCpu() throws Exception {
        Topology live = TopologyReader.live().read();
        FutureTask<ScratchPool<Object>> create = new FutureTask<>(() -> {
            Pinner.of(live).pin(live.cores().findFirst().orElseThrow());
            return new ScratchPool<>(() -> {
                made.incrementAndGet();
                return new Object();
            });
        });
        Thread.ofPlatform().start(create);
        ScratchPool<Object> ofWorker = create.get();
        List<Object> taken = new ArrayList<>();
        for (int i = 0; i < 4 * ProcessCpus.count(); i++) {
            taken.add(ofWorker.take());
        }
        taken.forEach(ofWorker::giveBack);
        int before = made.get();
        taken.forEach(each -> ofWorker.take());
        assertThat(made).hasValue(before);
    }

    @Test
    void nothingIsLentToTwoAtOnceOrKeptTwice() throws Exception {
        int threads = PLACES;
        CountDownLatch start = new CountDownLatch(threads);
        try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
            List<Future<?>> all = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                all.add(executor.submit(() -> {
                    start.countDown();
                    start.await();
                    for (int i = 0; i < 20_000; i++) {
                        AtomicBoolean scratch = pool.take();
                        assertThat(scratch.getAndSet(true)).isFalse();
                        scratch.set(false);
                        pool.giveBack(scratch);
                        if (i % 100 == 0) {
                            pool.visitKept(idle -> {
                                assertThat(idle.getAndSet(true)).isFalse();
                                idle.set(false);
                            });
                        }
                    }
                    return null;
                }));
            }
            for (Future<?> each : all) {
                each.get();
            }
        }
        List<AtomicBoolean> kept = new ArrayList<>();
        int before = made.get();
        while (made.get() == before) {
            kept.add(pool.take());
        }
        assertThat(kept).doesNotHaveDuplicates().hasSizeBetween(2, PLACES + 1);
    }

    @Test
    void aMakerThatFailsLosesNothing() {
        AtomicBoolean hasMemory = new AtomicBoolean(true);
        ScratchPool<Object> scarce = new ScratchPool<>(2, () -> {
            if (!hasMemory.get()) {
                throw new OutOfMemoryError("no scratch");
            }
            return new Object();
        });
        Object scratch = scarce.take();
        hasMemory.set(false);
        assertThatThrownBy(scarce::take).isInstanceOf(OutOfMemoryError.class);
        scarce.giveBack(scratch);
        assertThat(scarce.take()).isSameAs(scratch);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 65_537})
    void theNumberOfPlacesIsChecked(int places) {
        assertThatThrownBy(() -> new ScratchPool<>(places, Object::new))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("places must be between 1 and 65,536, got %,d", places);
    }
}
