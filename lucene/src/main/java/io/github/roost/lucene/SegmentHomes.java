package io.github.roost.lucene;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.task.MappingId;
import io.github.roost.core.task.Registration;
import io.github.roost.core.task.SearchFunction;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.util.IOUtils;
import org.apache.lucene.util.ThreadInterruptedException;
import org.jspecify.annotations.Nullable;

/**
 * Gives every segment of an index a mapping id, so that its searches run on the segment's home domain:
 *
 * <pre>{@code
 * IndexSearcher searcher = new SegmentHomes(orchestrator, "packages").searcher(reader);
 * }</pre>
 *
 * <p>Handing Lucene {@code orchestrator.executor(...)} cannot do that. Lucene's {@code TaskExecutor} passes its executor one
 * and the same {@code Runnable} for all segments; each run of it takes the next segment in turn, and the calling thread
 * takes segments too. No executor can tell which segment a run will take, so none can route it. These searchers therefore
 * place the work one step further in, where the segment is known: at the search of a leaf, and at the search of a leaf's
 * vectors.
 *
 * <p>A segment keeps its id over reopened readers, and gives it back once no reader has it. Thread-safe.
 */
public final class SegmentHomes {
    private final Orchestrator orchestrator;
    private final String name;
    private final ConcurrentMap<IndexReader.CacheKey, Registration> registrations = new ConcurrentHashMap<>();
    private final boolean atHome;
    /** Made for the first searcher that needs it. Guarded by this. */
    private @Nullable Executor workers;

    /**
     * Homes for the segments of one index.
     *
     * @param orchestrator whose workers search them
     * @param name how the segments show in reports
     */
    public SegmentHomes(Orchestrator orchestrator, String name) {
        this.orchestrator = orchestrator;
        this.name = name;
        this.atHome = orchestrator.topology().domains().size() > 1;
    }

    /** Whether a segment's work goes to its home: on one domain every worker is at home everywhere. */
    boolean atHome() {
        return atHome;
    }

    /** Any worker: on one domain all are at home. */
    private synchronized Executor workers() {
        Executor made = workers;
        if (made == null) {
            made = orchestrator.executor(
                    orchestrator.register(name + " on one domain").id());
            workers = made;
        }
        return made;
    }

    /**
     * A searcher whose segments are searched at home. Its caller waits and searches nothing itself, unless it is a worker: a
     * search inside a task may run on that task's worker. When a home domain is full, the orchestrator's overload policy
     * decides; a rejection is thrown from the search.
     *
     * <p>Where the orchestrator has one domain, there are no homes to keep: then the searcher is Lucene's own, with the workers as
     * its executor.
     *
     * @param reader not closed by the searcher
     * @return the searcher
     * @throws IOException if a view of the reader cannot be made
     */
    public IndexSearcher searcher(DirectoryReader reader) throws IOException {
        SegmentReaders view =
                reader instanceof SegmentReaders made && made.homes() == this ? made : new SegmentReaders(reader, this);
        return atHome ? new SegmentSearcher(view) : new IndexSearcher(view, workers());
    }

    /**
     * A view of a reader whose searchers may be made later, by a {@code SearcherManager} for one. Reopening gives such a
     * view again; closing it closes the reader.
     *
     * @param reader to be seen so
     * @return the view
     * @throws IOException if it cannot be made
     */
    public DirectoryReader reader(DirectoryReader reader) throws IOException {
        return new SegmentReaders(reader, this);
    }

    /**
     * Where searches of a segment belong. To be called with an open reader, so that its closing is not missed.
     *
     * @param segment of a reader
     * @return its mapping id, the same as long as any reader has the segment
     * @throws IllegalArgumentException if the segment has no cache key
     */
    public MappingId idOf(LeafReader segment) {
        IndexReader.CacheHelper core = segment.getCoreCacheHelper();
        if (core == null) {
            throw new IllegalArgumentException("a segment must have a cache key to have a home, got " + segment);
        }
        Registration registration = registrations.computeIfAbsent(core.getKey(), key -> {
            Registration added = orchestrator.register(name);
            core.addClosedListener(this::forget);
            return added;
        });
        return registration.id();
    }

    private void forget(IndexReader.CacheKey core) {
        Registration registration = registrations.remove(core);
        if (registration != null) {
            registration.close();
        }
    }

    /** Counts what was read of a segment that was not searched in a task of its own. */
    void touched(MappingId segment, long vectors, long bytes) {
        orchestrator.indexing().touched(segment, vectors, bytes);
    }

    /** Runs what hands a segment on and waits, beside the caller unless that is a worker. */
    void fork(Runnable handing) {
        if (orchestrator.indexing().calledOnWorker()) {
            handing.run();
        } else {
            Thread.startVirtualThread(handing);
        }
    }

    /** Runs one segment's part of a search at home and waits for it; an interrupt keeps what has not begun from running. */
    void runAt(MappingId home, SearchFunction<MappingId, Boolean> part) throws IOException {
        CompletableFuture<Boolean> search = orchestrator.submit(part, home, home);
        try {
            search.get();
        } catch (ExecutionException e) {
            throw IOUtils.rethrowAlways(e.getCause());
        } catch (InterruptedException e) {
            search.cancel(false);
            throw new ThreadInterruptedException(e);
        }
    }
}
