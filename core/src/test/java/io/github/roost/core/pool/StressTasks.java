package io.github.roost.core.pool;

import io.github.roost.core.mapping.Mapping;

/** Tasks for stress tests, that do nothing. */
final class StressTasks {
    private StressTasks() {}

    static Epoch epoch() {
        return new Epoch(Mapping.of(1, new int[] {0}), 1);
    }

    static SearchTask<Integer, Integer> task(Epoch epoch) {
        return new SearchTask<>((query, context) -> query, 0, 0, epoch, Task.NOT_TIMED, Task.NO_DEADLINE);
    }
}
