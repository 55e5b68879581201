package io.github.roost.core.task;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.placement.Epoch;
import io.github.roost.core.pool.StressTasks;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A {@link TaskQueue} and its {@link Room}, one step after another, compared with a list. */
class TaskQueueTest {
    private static final Epoch EPOCH = StressTasks.epoch();
    private static final int CAPACITY = 700;

    private final TaskQueue queue = new TaskQueue();
    private final Room room = new Room(CAPACITY, queue::ended);
    /** What waits, oldest first, and where. */
    private final Map<Task, Long> model = new LinkedHashMap<>();

    @Test
    void whateverIsDoneTheOldestIsTakenAndTheRoomIsCounted() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        int puts = 1;
        for (int step = 0; step < 200_000; step++) {
            if (step % 5_000 == 0) {
                puts = random.nextInt(1, 6);
            }
            int draw = random.nextInt(puts + 4);
            if (draw < puts) {
                put(seed);
            } else if (draw < puts + 2) {
                assertThat(queue.poll()).as("seed %d", seed).isEqualTo(removeFirst());
            } else if (draw == puts + 2 && !model.isEmpty()) {
                Task any = new ArrayList<>(model.keySet()).get(random.nextInt(model.size()));
                long place = Objects.requireNonNull(model.remove(any));
                assertThat(queue.remove(place, any)).as("seed %d", seed).isTrue();
                assertThat(queue.remove(0, any)).isFalse();
            } else if (random.nextInt(200) == 0) {
                sweep(random);
            }
            assertThat(queue.waiting()).as("seed %d", seed).isEqualTo(model.size());
            assertThat(!model.isEmpty() && !queue.hasTasks())
                    .as("seed %d", seed)
                    .isFalse();
        }
    }

    private void put(long seed) {
        boolean fits = model.size() < CAPACITY;
        assertThat(room.take(1)).as("room, seed %d", seed).isEqualTo(fits);
        if (fits) {
            Task task = StressTasks.task(EPOCH);
            model.put(task, queue.put(task));
        }
    }

    private @Nullable Task removeFirst() {
        if (model.isEmpty()) {
            return null;
        }
        Task first = model.keySet().iterator().next();
        model.remove(first);
        return first;
    }

    private void sweep(SplittableRandom random) {
        List<Task> unwanted =
                model.keySet().stream().filter(task -> random.nextBoolean()).toList();
        List<Task> removed = new ArrayList<>();
        queue.removeIf(unwanted::contains, removed::add);
        assertThat(removed).isEqualTo(unwanted);
        unwanted.forEach(model::remove);
    }

    @Test
    void moreThanThereIsRoomForIsLetInWhileNothingWaits() {
        assertThat(room.take(CAPACITY + 1)).isTrue();
        assertThat(room.take(1)).isFalse();
        room.give(CAPACITY + 1);
        assertThat(room.take(CAPACITY)).isTrue();
        assertThat(room.take(1)).isFalse();
        assertThat(room.take(CAPACITY + 1)).isFalse();
    }
}
