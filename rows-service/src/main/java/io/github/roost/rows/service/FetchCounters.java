package io.github.roost.rows.service;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/** Counts what a client does. Thread-safe. */
final class FetchCounters {
    private final LongAdder requests = new LongAdder();
    private final LongAdder hedges = new LongAdder();
    private final LongAdder batches = new LongAdder();
    private final Map<String, LongAdder> answersBy = new ConcurrentHashMap<>();

    void sent(int count) {
        requests.add(count);
    }

    void hedged(int count) {
        hedges.add(count);
    }

    void answered(String server) {
        answersBy.computeIfAbsent(server, _ -> new LongAdder()).increment();
    }

    void done() {
        batches.increment();
    }

    RowsClient.Stats stats() {
        Map<String, Long> answers = answersBy.entrySet().stream()
                .collect(Collectors.toUnmodifiableMap(
                        Map.Entry::getKey, each -> each.getValue().sum()));
        return new RowsClient.Stats(requests.sum(), hedges.sum(), batches.sum(), answers);
    }
}
