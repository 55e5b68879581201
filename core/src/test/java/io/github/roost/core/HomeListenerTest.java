package io.github.roost.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.mapping.RemapTrigger;
import io.github.roost.core.monitor.TrafficMonitor;
import io.github.roost.core.placement.Mapper;
import io.github.roost.core.remap.RemapRule;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HomeListenerTest {
    private static final int DOMAINS = 4;
    private static final int MANY = 131_072;

    private final TrafficMonitor monitor = new TrafficMonitor(DOMAINS, 1);
    /** What the policy makes of the mapping at the end of the next window. */
    private volatile UnaryOperator<Mapping> next = now -> now;

    private final Mapper mapper = mapperWithWindowsOf(TimeUnit.HOURS.toNanos(1));
    private final Registration.Owner owner = new Registration.Owner() {
        @Override
        public CompletionStage<Void> unregister(Registration registration) {
            return mapper.unregister(registration);
        }

        @Override
        public int home(int slot) {
            Mapping mapping = mapper.epochs().current().mapping();
            return mapping.homeCount(slot) == 1 ? mapping.home(slot, 0) : -1;
        }
    };

    private Mapper mapperWithWindowsOf(long nanos) {
        RemapRule rule = new RemapRule((now, bytes) -> next.apply(now), new RemapTrigger(.01, 0));
        return new Mapper(
                (name, firstSlot, size, lastEpoch, listeners) ->
                        new Registration(owner, name, firstSlot, size, lastEpoch, listeners),
                DOMAINS,
                1,
                monitor,
                rule,
                0,
                nanos,
                6,
                true);
    }

    /** Of no listener: each remap divides one among two domains, which pays whatever else moves. */
    private final Registration weights = mapper.register("weights", 8);

    private int remaps;

    private boolean remap(UnaryOperator<Mapping> change) {
        int weight = weights.firstSlot() + remaps;
        monitor.add(0, weight, (long) Math.pow(1_000, remaps + 1));
        remaps++;
        next = now -> change.apply(now.edit(now.slots()).homes(weight, 0, 1).build());
        return mapper.endWindow();
    }

    /** Ends a window that moves mapping ids of a table to the next domain. */
    private boolean moveOn(Registration table, int... indices) {
        return remap(now -> {
            Mapping.Editor editor = now.edit(now.slots());
            for (int index : indices) {
                int slot = table.firstSlot() + index;
                editor.home(slot, (now.home(slot, 0) + 1) % DOMAINS);
            }
            return editor.build();
        });
    }

    private record Told(Registration table, List<Integer> indices, List<Integer> homes) {
        static Told of(Registration table, int[] indices) {
            return new Told(
                    table,
                    Arrays.stream(indices).boxed().toList(),
                    Arrays.stream(indices).map(table::home).boxed().toList());
        }
    }

    private final List<Told> told = new ArrayList<>();

    private void listenTo(Registration table) {
        table.onHomesMoved((moved, indices) -> told.add(Told.of(moved, indices)));
    }

    @Test
    void aDriftThatMovesHomesTellsWhichOnesOnceTheNewMappingIsInForce() {
        Registration table = mapper.register("table", 3);
        listenTo(table);
        List<Integer> before = List.of(table.home(0), table.home(1), table.home(2));

        assertThat(moveOn(table, 0, 2)).isTrue();

        assertThat(told)
                .containsExactly(new Told(
                        table, List.of(0, 2), List.of((before.get(0) + 1) % DOMAINS, (before.get(2) + 1) % DOMAINS)));
    }

    @Test
    void aWindowThatLeavesTheTablesHomesTellsNothing() {
        Registration table = mapper.register("table", 3);
        listenTo(table);

        assertThat(mapper.endWindow()).isFalse();
        assertThat(moveOn(table)).isTrue();

        assertThat(told).isEmpty();
    }

    @Test
    void aTableIsToldOfItsOwnHomesOnlyAndOnceForAllOfThem() {
        Registration first = mapper.register("first", 2);
        Registration second = mapper.register("second", MANY - 11);
        Registration third = mapper.register("third", 1);
        listenTo(first);
        listenTo(second);
        listenTo(third);
        int[] all = new int[MANY - 11];
        Arrays.setAll(all, i -> i);

        moveOn(second, all);

        assertThat(told).hasSize(1);
        assertThat(told.getFirst().table()).isSameAs(second);
        assertThat(told.getFirst().indices()).hasSize(MANY - 11).isSorted();
    }

    @Test
    void aHomeMoreIsAMove() {
        Registration table = mapper.register("table", 2);
        listenTo(table);
        int slot = table.firstSlot() + 1;

        assertThat(remap(now -> now.edit(now.slots())
                        .homes(slot, now.home(slot, 0), (now.home(slot, 0) + 1) % DOMAINS)
                        .build()))
                .isTrue();

        assertThat(told).containsExactly(new Told(table, List.of(1), List.of(-1)));
    }

    @Test
    void registeringAnotherTableIsNoMove() {
        Registration table = mapper.register("table", 2);
        listenTo(table);

        mapper.register("other", 5).close();
        var _ = mapper.advanceEpoch();

        assertThat(told).isEmpty();
    }

    @Test
    void aListenerThatThrowsHarmsNobodyAndIsLoggedOnce() {
        Registration table = mapper.register("table", 1);
        table.onHomesMoved((moved, indices) -> {
            // Each has its own.
            indices[0] = 7;
            throw new StackOverflowError("the listener's");
        });
        table.onHomesMoved((moved, indices) -> {
            throw new IllegalStateException("the other listener's");
        });
        listenTo(table);
        PrintStream before = System.err;
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
        try {
            assertThat(moveOn(table, 0)).isTrue();
            assertThat(moveOn(table, 0)).isTrue();
        } finally {
            System.setErr(before);
        }

        assertThat(told).extracting(Told::indices).containsExactly(List.of(0), List.of(0));
        assertThat(log.toString(StandardCharsets.UTF_8))
                .containsOnlyOnce("the listener's")
                .containsOnlyOnce("the other listener's");
    }

    @Test
    void aClosedTableIsToldNothing() {
        Registration table = mapper.register("table", 2);
        Registration kept = mapper.register("kept", 1);
        listenTo(table);
        listenTo(kept);
        table.close();

        moveOn(kept, 0);
        mapper.epochs().retireEmpty();
        Registration heir = mapper.register("heir", 2);
        moveOn(heir, 0, 1);

        assertThat(heir.firstSlot()).isEqualTo(table.firstSlot());
        assertThat(told).extracting(Told::table).containsExactly(kept);
    }

    @Test
    void aListenerMayCloseTheTableAndEndWindowsItself() {
        Registration table = mapper.register("table", 1);
        table.onHomesMoved((moved, indices) -> {
            mapper.register("other", 1);
            mapper.endWindow();
            moved.close();
        });
        listenTo(table);

        assertThat(moveOn(table, 0)).isTrue();

        assertThat(table.isOpen()).isFalse();
    }

    @Test
    void noLockIsHeldWhileAListenerIsTold() {
        Registration table = mapper.register("table", 1);
        List<Boolean> held = new ArrayList<>();
        table.onHomesMoved((moved, indices) -> held.add(Thread.holdsLock(mapper)));

        moveOn(table, 0);

        assertThat(held).containsExactly(false);
    }

    @Test
    void theMappersOwnThreadTellsToo() throws InterruptedException {
        Mapper running = mapperWithWindowsOf(TimeUnit.MILLISECONDS.toNanos(1));
        Registration table = running.register("table", 1);
        BlockingQueue<String> threads = new LinkedBlockingQueue<>();
        table.onHomesMoved(
                (moved, indices) -> threads.add(Thread.currentThread().getName()));
        monitor.add(0, table.firstSlot(), 1_000);
        next = now -> now.edit(now.slots()).homes(table.firstSlot(), 0, 1).build();
        running.start();
        try {
            assertThat(threads.take()).isEqualTo("roost-mapper");
        } finally {
            running.stop();
        }
    }

    @Test
    @SuppressWarnings("NullAway") // what is under test
    void nobodyIsNoListener() {
        Registration table = mapper.register("table", 1);

        assertThatThrownBy(() -> table.onHomesMoved(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("listener must not be null");
    }

    @Test
    void aTableForWhichThereIsNoMemoryLeavesNoTrace() {
        AtomicBoolean isFull = new AtomicBoolean(true);
        Mapper small = new Mapper(
                (name, firstSlot, size, lastEpoch, listeners) -> {
                    if (isFull.getAndSet(false)) {
                        throw new OutOfMemoryError("as if");
                    }
                    return new Registration(owner, name, firstSlot, size, lastEpoch, listeners);
                },
                DOMAINS,
                1,
                monitor,
                new RemapRule((now, bytes) -> now, new RemapTrigger(.01, 0)),
                0,
                TimeUnit.HOURS.toNanos(1),
                6,
                true);
        assertThatThrownBy(() -> small.register("large", 1_000)).isInstanceOf(OutOfMemoryError.class);
        assertThat(small.tables()).isEmpty();
        assertThat(small.register("next", 3).firstSlot()).isZero();
        assertThat(small.register("after", 2).firstSlot()).isEqualTo(3);
    }
}
