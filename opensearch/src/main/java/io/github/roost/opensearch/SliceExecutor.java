package io.github.roost.opensearch;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.opensearch.RoostSettings.Slices;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.threadpool.RunnableTaskExecutionListener;
import org.opensearch.threadpool.TaskAwareRunnable;

/**
 * Executor of the slices of concurrent segment search: on Roost's workers, or in OpenSearch's pool, as the {@code roost.slices}
 * setting says. Slices of an index without Roost's vectors stay in OpenSearch's pool. Thread-safe.
 *
 * <p>Lucene passes its executor the same {@code Runnable} for every slice but one, so the executor cannot know which segments a run
 * will search. Runs are therefore distributed round robin over the domains.
 *
 * <p>The workers take slices from one index after another ({@link FairQueue}), so that an index with many searches does not delay the others. A slice
 * is put into that queue before a task is submitted that takes one from it, and a task that is rejected takes its slice back. So no more slices wait
 * than tasks will take, and none is left.
 */
final class SliceExecutor extends AbstractExecutorService {
    /** The name in statistics, which lists indexes under their names: no index can have a name that begins like this. */
    static final String NAME = "_slices";

    private static final RunnableTaskExecutionListener NO_TASKS = new RunnableTaskExecutionListener() {
        @Override
        public void taskExecutionStartedOnThread(long taskId, long threadId) {}

        @Override
        public void taskExecutionFinishedOnThread(long taskId, long threadId) {}
    };

    private final Registration registration;
    private final List<ExecutorService> domains;
    private final ExecutorService pool;
    private final ThreadContext threadContext;
    private final AtomicInteger turn = new AtomicInteger();
    private final FairQueue waiting = new FairQueue();
    private final ConcurrentMap<String, LongAdder> submitted = new ConcurrentHashMap<>();
    /** Counts for OpenSearch's tasks what their slices cost on workers; set before the node searches. */
    private final AtomicReference<RunnableTaskExecutionListener> tasks = new AtomicReference<>(NO_TASKS);

    private volatile Slices slices;

    /**
     * A slice that waits.
     *
     * @param plain runs it in the thread of its search, which counts for a task already
     * @param counted runs it in another thread
     */
    private record Slice(Runnable plain, Runnable counted) {}

    SliceExecutor(Orchestrator orchestrator, ExecutorService pool, ThreadContext threadContext, Slices slices) {
        int count = orchestrator.topology().domains().size();
        this.registration = orchestrator.register(NAME, count);
        this.domains = IntStream.range(0, count)
                .mapToObj(domain -> orchestrator.executor(registration.id(domain)))
                .toList();
        this.pool = pool;
        this.threadContext = threadContext;
        this.slices = slices;
    }

    void slices(Slices value) {
        slices = value;
    }

    void tasks(RunnableTaskExecutionListener listener) {
        tasks.set(listener);
    }

    /** Numbers of slices submitted to Roost's workers, by index. */
    Map<String, Long> submitted() {
        Map<String, Long> counts = new TreeMap<>();
        submitted.forEach((index, count) -> counts.put(index, count.sum()));
        return counts;
    }

    /** Forgets the count of an index. */
    void forget(String index) {
        submitted.remove(index);
    }

    @Override
    public void execute(Runnable command) {
        String index = SearchedIndex.current();
        if (index == null || slices == Slices.INDEX_SEARCHER) {
            pool.execute(command);
        } else {
            onWorkers(index, command);
        }
    }

    private void onWorkers(String index, Runnable command) {
        // Preserves the request's thread context, such as the user's permissions, as OpenSearch's own pools do.
        Slice slice = new Slice(
                threadContext.preserveContext(command),
                threadContext.preserveContext(new TaskAwareRunnable(threadContext, command, tasks)));
        Thread submitter = Thread.currentThread();
        submitted.computeIfAbsent(index, first -> new LongAdder()).increment();
        waiting.add(index, slice);
        try {
            domains.get(Math.floorMod(turn.getAndIncrement(), domains.size())).execute(() -> {
                if (Thread.currentThread() != submitter) {
                    runNext(Slice::counted);
                } else if (waiting.remove(index, slice)) {
                    // If the workers are full, this thread runs the task: then its own slice, not another index's.
                    slice.plain.run();
                } else {
                    runNext(Slice::plain);
                }
            });
        } catch (Throwable rejected) {
            if (waiting.remove(index, slice)) {
                throw rejected;
            }
            // Another task runs this slice, so one is left that no task will take.
            runNext(Slice::plain);
        }
    }

    private void runNext(Function<Slice, Runnable> way) {
        Slice slice = waiting.take();
        if (slice != null) {
            way.apply(slice).run();
        }
    }

    @Override
    public void shutdown() {
        domains.forEach(ExecutorService::shutdown);
        registration.close();
    }

    @Override
    public List<Runnable> shutdownNow() {
        List<Runnable> neverRun = new ArrayList<>();
        for (ExecutorService domain : domains) {
            for (Runnable _ : domain.shutdownNow()) {
                Slice slice = waiting.take();
                if (slice != null) {
                    neverRun.add(slice.plain);
                }
            }
        }
        registration.close();
        return neverRun;
    }

    @Override
    public boolean isShutdown() {
        return domains.getFirst().isShutdown();
    }

    @Override
    public boolean isTerminated() {
        return domains.stream().allMatch(ExecutorService::isTerminated);
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        long end = System.nanoTime() + unit.toNanos(timeout);
        boolean terminated = true;
        for (ExecutorService domain : domains) {
            terminated &= domain.awaitTermination(end - System.nanoTime(), TimeUnit.NANOSECONDS);
        }
        return terminated;
    }

    /**
     * Slices that wait for a thread. They are taken from one index after another, and those of an index in the order of their arrival, so an index with
     * many waiting slices delays a slice of another index by at most one of its own. Thread-safe.
     */
    private static final class FairQueue {
        /** By index, the next one first. No queue is empty. Guarded by this. */
        private final SequencedMap<String, Queue<Slice>> waiting = new LinkedHashMap<>();

        /** Adds a slice of an index. */
        synchronized void add(String index, Slice slice) {
            waiting.computeIfAbsent(index, first -> new ArrayDeque<>()).add(slice);
        }

        /** Takes the next slice; null if none waits. Allocates nothing, so that no slice is lost if memory is out. */
        synchronized @Nullable Slice take() {
            Map.Entry<String, Queue<Slice>> next = waiting.firstEntry();
            if (next == null) {
                return null;
            }
            Queue<Slice> itsSlices = next.getValue();
            if (itsSlices.size() == 1) {
                waiting.remove(next.getKey());
            } else {
                waiting.putLast(next.getKey(), itsSlices);
            }
            return itsSlices.remove();
        }

        /** Removes a slice that has not been taken; returns whether it was there. */
        synchronized boolean remove(String index, Slice slice) {
            Queue<Slice> itsSlices = waiting.get(index);
            if (itsSlices == null || !itsSlices.remove(slice)) {
                return false;
            }
            if (itsSlices.isEmpty()) {
                waiting.remove(index);
            }
            return true;
        }
    }
}
