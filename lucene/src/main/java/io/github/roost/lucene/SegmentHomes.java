package io.github.roost.lucene;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.core.SearchFunction;
import io.github.roost.topology.Topology;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.Collector;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Weight;
import org.apache.lucene.util.IOUtils;
import org.apache.lucene.util.ThreadInterruptedException;

/**
 * Assigns every segment of an index a mapping id, so that its searches run on the segment's home domain:
 *
 * <pre>{@code
 * IndexSearcher searcher = new SegmentHomes(orchestrator, "packages").searcher(reader);
 * }</pre>
 *
 * <p>An executor passed to Lucene, {@code orchestrator.executor(...)}, cannot do this. Lucene's {@code TaskExecutor} passes its
 * executor the same {@code Runnable} for all segments; each run takes the next segment, and the calling thread
 * takes segments too. So an executor does not know which segment a run will take, and cannot route it. The searchers of this class
 * route one level deeper, where the segment is known: at the search of a leaf, and at the search of a leaf's
 * vectors.
 *
 * <p>A segment keeps its id across reopened readers; the id is released when the last reader closes the segment. Thread-safe.
 */
public final class SegmentHomes {
    private static final int LAST_LEVEL = 3;

    private final Orchestrator orchestrator;
    private final String name;
    private final ConcurrentMap<IndexReader.CacheKey, Registration> registrations = new ConcurrentHashMap<>();
    private final boolean atHome;

    /**
     * Creates homes for the segments of one index. They are used where {@link #pay} says that they pay.
     *
     * @param orchestrator its workers search the segments
     * @param name the segments' name in reports
     */
    public SegmentHomes(Orchestrator orchestrator, String name) {
        this(orchestrator, name, pay(orchestrator.topology()));
    }

    private SegmentHomes(Orchestrator orchestrator, String name, boolean atHome) {
        this.orchestrator = orchestrator;
        this.name = name;
        this.atHome = atHome;
    }

    /**
     * Creates homes that are used on every machine, also where they cost more than they gain: for tests and measurements.
     *
     * @param orchestrator its workers search the segments
     * @param name the segments' name in reports
     * @return the homes
     */
    public static SegmentHomes always(Orchestrator orchestrator, String name) {
        return new SegmentHomes(orchestrator, name, true);
    }

    /**
     * Whether homes can pay for the hop to another thread: if the domains do not all share one last-level cache. Domains under one L3,
     * such as the L2 of each core, all find a segment there, so a home saves less than the hop to it costs.
     *
     * @param topology the topology of an orchestrator
     * @return whether a segment in the cache of one domain is not in the cache of some other
     */
    public static boolean pay(Topology topology) {
        return topology.domains().size() > 1 && lastLevelCaches(topology) != 1;
    }

    /** The number of L3 caches of the usable PUs; 0 also if the caches are unknown. */
    private static long lastLevelCaches(Topology topology) {
        Set<Integer> usable = new HashSet<>();
        topology.domains().forEach(domain -> usable.addAll(domain.pus()));
        return topology.machine().caches().stream()
                .filter(cache ->
                        cache.level() == LAST_LEVEL && cache.pus().stream().anyMatch(usable::contains))
                .count();
    }

    /** Whether searches are routed to a segment's home. */
    boolean atHome() {
        return atHome;
    }

    /**
     * Creates a searcher that searches segments on their home domains. The calling thread waits and searches nothing itself, unless it
     * is a worker: a search inside a task may run on that task's worker. If a home domain is full, the orchestrator's overload policy
     * decides; a rejection is thrown from the search.
     *
     * <p>Where homes do not {@linkplain #pay pay}, the searcher is Lucene's own without an executor: the calling thread searches.
     *
     * @param reader not closed by the searcher
     * @return the searcher
     * @throws IOException if the view of the reader cannot be created
     */
    public IndexSearcher searcher(DirectoryReader reader) throws IOException {
        SegmentReaders view =
                reader instanceof SegmentReaders made && made.homes() == this ? made : new SegmentReaders(reader, this);
        return atHome ? new SegmentSearcher(view) : new IndexSearcher(view);
    }

    /**
     * Creates a view of a reader, for searchers that are created later, for example by a {@code SearcherManager}. Reopening the view
     * returns such a view; closing it closes the reader.
     *
     * @param reader the reader to wrap
     * @return the view
     * @throws IOException if the view cannot be created
     */
    public DirectoryReader reader(DirectoryReader reader) throws IOException {
        return new SegmentReaders(reader, this);
    }

    /**
     * The mapping id of a segment. The reader must be open during the call, so that its closing is not missed.
     *
     * @param segment a segment of an open reader
     * @return its mapping id, the same as long as any reader has the segment open
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

    /** Counts traffic of a segment that was not searched in a task of its own. */
    void touched(MappingId segment, long vectors, long bytes) {
        orchestrator.indexing().touched(segment, vectors, bytes);
    }

    /** Runs a task that submits a segment's search and waits for it: in a virtual thread, or in the caller if that is a worker. */
    void fork(Runnable handing) {
        if (orchestrator.indexing().calledOnWorker()) {
            handing.run();
        } else {
            Thread.startVirtualThread(handing);
        }
    }

    /** Runs one segment's part of a search on its home domain and waits for it; an interrupt cancels a part that has not begun. */
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

    /**
     * Searches each segment on its home domain. Lucene's {@code TaskExecutor} gets virtual threads, which only submit their
     * segment's search and wait for it, so searching all segments at once occupies no extra core.
     *
     * <p>A search that runs inside a worker's task gets no virtual threads. The worker would block on them without running their
     * searches, and all workers could block like this. Instead it submits the segments one by one: while it waits for a search, a
     * worker runs queued tasks.
     */
    private static final class SegmentSearcher extends IndexSearcher {
        private final SegmentHomes homes;

        SegmentSearcher(SegmentReaders reader) {
            super(reader, reader.homes()::fork);
            this.homes = reader.homes();
        }

        /** One slice per segment, because the segments of a slice would be searched one after the other. */
        @Override
        protected LeafSlice[] slices(List<LeafReaderContext> leaves) {
            return slices(leaves, 0, 1, false);
        }

        @Override
        protected void searchLeaf(LeafReaderContext leaf, int from, int to, Weight weight, Collector collector)
                throws IOException {
            SegmentReaders.Segment segment = (SegmentReaders.Segment) leaf.reader();
            homes.runAt(segment.home(), (id, context) -> {
                super.searchLeaf(leaf, from, to, weight, collector);
                return true;
            });
        }
    }
}
