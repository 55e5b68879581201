package io.github.roost.opensearch;

import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * Slices that wait for a thread. They are taken from one index after another, and those of an index in the order of their arrival, so an index with
 * many waiting slices delays a slice of another index by at most one of its own. Thread-safe.
 */
final class FairQueue {
    /** By index, the next one first. No queue is empty. Guarded by this. */
    private final SequencedMap<String, Queue<Runnable>> waiting = new LinkedHashMap<>();

    /** Adds a slice of an index. */
    synchronized void add(String index, Runnable slice) {
        waiting.computeIfAbsent(index, first -> new ArrayDeque<>()).add(slice);
    }

    /** Takes the next slice; null if none waits. Allocates nothing, so that no slice is lost if memory is out. */
    synchronized @Nullable Runnable take() {
        Map.Entry<String, Queue<Runnable>> next = waiting.firstEntry();
        if (next == null) {
            return null;
        }
        Queue<Runnable> itsSlices = next.getValue();
        if (itsSlices.size() == 1) {
            waiting.remove(next.getKey());
        } else {
            waiting.putLast(next.getKey(), itsSlices);
        }
        return itsSlices.remove();
    }

    /** Removes a slice that has not been taken; returns whether it was there. */
    synchronized boolean remove(String index, Runnable slice) {
        Queue<Runnable> itsSlices = waiting.get(index);
        if (itsSlices == null || !itsSlices.remove(slice)) {
            return false;
        }
        if (itsSlices.isEmpty()) {
            waiting.remove(index);
        }
        return true;
    }
}
