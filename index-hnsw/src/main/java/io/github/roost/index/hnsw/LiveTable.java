package io.github.roost.index.hnsw;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.LiveRows.RowsSnapshot;
import io.github.roost.index.hnsw.format.HnswFormats;
import io.github.roost.index.hnsw.graph.Graph;
import io.github.roost.index.hnsw.graph.GraphOptions;
import io.github.roost.topology.system.DomainMemory;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.MutableVectorTable;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.TableFormat;
import io.github.roost.vector.TableStats;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.spi.BuildWork;
import io.github.roost.vector.spi.TableMemory;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An HNSW table that can be changed while it is searched, placed by an orchestrator as one mapping id.
 *
 * <p>The table is a log-structured merge tree (O'Neil et al., Acta Informatica 33(4), 1996) of parts: graphs, and recently
 * added rows, which searches scan exhaustively. When enough rows have been added, they are built into a graph as batch work on the
 * orchestrator's workers, together with older parts that are not much larger or are mostly tombstones; the new part then replaces
 * the old ones atomically. Until then, searches skip the tombstones of parts with a graph. The number of parts, and the number of
 * times that a row is built into a graph, are logarithmic in the number of rows.
 *
 * <p>The table also keeps an off-heap map from ids to rows, 20 to 40 bytes per row. If changes arrive faster than the workers can
 * build, the rows without a graph accumulate and searches get slower. On a machine with several NUMA nodes the
 * memory of parts with a graph follows the table's home ({@link TableMemory}), unless it is mapped from a file; rows in no
 * graph yet stay on the node of the thread that wrote them until the home moves.
 *
 * <p>Thread-safe. Changes are made one at a time, in the calling threads; searches never wait for them.
 */
public final class LiveTable extends GraphTable implements MutableVectorTable {
    /** The format of saved live tables. */
    public static final TableFormat FORMAT = HnswFormats.LIVE;

    static final int MIN_MERGE_AFTER = 64;
    static final int MAX_MERGE_AFTER = 1_000_000;
    /** The share of a merge's progress that is left for merges that fall due while it runs. */
    private static final double LATER_MERGES = .05;

    private final GraphOptions options;
    private final int mergeAfter;
    private final MergeScheduler<LiveTable> merges;

    /** All parts. Replaced only under the lock. */
    private final LiveParts parts;

    /**
     * The parts that rows are added to, at most {@code mergeAfter} rows in all. There are several if rows differ so much in magnitude
     * that one part cannot represent the distances of all: each part covers at least 20 binary exponents, so there are at most 15.
     * Guarded by the lock.
     */
    private final List<LiveRows> open = new ArrayList<>(16);

    /** The place of each id's live row, and the number of each part. This object is the lock, and is guarded by it. */
    private final RowPlaces places;

    /** This and {@code placeBytes} copy the size and bytes of {@link #places}, for reads without the lock. Written by {@link #count}. */
    private volatile int size;

    private volatile long placeBytes;

    private final TableMemory memory;

    /** Parts that have been replaced but that searches may still read. Guarded by the lock. */
    private final List<WeakReference<LiveRows>> replaced = new ArrayList<>();

    /** @param expected number of rows to come at once */
    private LiveTable(
            Orchestrator orchestrator,
            String name,
            GraphOptions options,
            int dimension,
            int mergeAfter,
            int expected,
            TableMemory.Mover mover) {
        LiveParts parts = new LiveParts();
        super(orchestrator, orchestrator.register(name), options.metric(), options.elementType(), dimension, parts);
        this.parts = parts;
        this.options = options;
        this.mergeAfter = mergeAfter;
        this.places = new RowPlaces(expected);
        this.merges =
                new MergeScheduler<>(this, name, () -> new BuildWork(orchestrator, name + " (build)"), this::mergeOnce);
        this.memory = TableMemory.keepAtHome(
                orchestrator, registration(), index -> parts.all().stream().map(LiveRows::memory), mover);
    }

    /** Sets the initial parts; returns false if two live rows have the same id. */
    private boolean begin(List<LiveRows> first) {
        synchronized (places) {
            for (LiveRows part : first) {
                places.enter(part);
                for (int row = 0; row < part.count(); row++) {
                    if (part.isAlive(row) && places.put(part.id(row), part, row) != RowPlaces.NOWHERE) {
                        return false;
                    }
                }
            }
            parts.replace(List.copyOf(first));
            first.stream().filter(part -> !part.isSealed()).forEach(open::add);
            count();
        }
        memory.allIsNew();
        return true;
    }

    /** {@return a builder with every option at its default} */
    public static Builder builder() {
        return new Builder();
    }

    /** {@link ElementType#FLOAT32} as long as a graph has no codes because they would lose too much. */
    @Override
    public ElementType elementType() {
        return parts.all().stream().allMatch(part -> !part.hasGraph() || part.isCoded())
                ? options.elementType()
                : ElementType.FLOAT32;
    }

    /** A concurrent search finds the old row or the new one. */
    @Override
    public boolean put(long id, float[] vector) {
        Vectors.require("vector", vector, dimension(), metric());
        try (var _ = change()) {
            return putHeld(id, vector);
        }
    }

    private boolean putHeld(long id, float[] vector) {
        synchronized (places) {
            if (places.bytesWithAnother() > places.bytes() && places.get(id) == RowPlaces.NOWHERE) {
                limit().admit(name(), () -> bytesOf(parts.all()) + places.bytesWithAnother());
            }
            LiveRows part = partFor(vector);
            int row = part.add(id, vector);
            long old;
            try {
                old = places.put(id, part, row);
            } catch (Throwable failed) {
                // A row without a place could never be removed.
                part.remove(row);
                throw failed;
            }
            count();
            if (old != RowPlaces.NOWHERE) {
                markDeleted(old);
            }
            return old == RowPlaces.NOWHERE;
        }
    }

    @Override
    public boolean remove(long id) {
        try (var _ = change()) {
            synchronized (places) {
                long old = places.remove(id);
                count();
                if (old != RowPlaces.NOWHERE) {
                    markDeleted(old);
                }
                return old != RowPlaces.NOWHERE;
            }
        }
    }

    @Override
    public float @Nullable [] vector(long id) {
        try (var _ = use()) {
            synchronized (places) {
                long place = places.get(id);
                return place == RowPlaces.NOWHERE ? null : places.part(place).vector(RowPlaces.row(place));
            }
        }
    }

    /** Publishes the size and bytes of the places to readers without the lock; called under the lock. */
    private void count() {
        size = places.size();
        placeBytes = places.bytes();
    }

    /** The part to add a row to. If the open parts have {@code mergeAfter} rows, seals them and requests their merge. */
    private LiveRows partFor(float[] vector) {
        boolean full = open.stream().mapToInt(LiveRows::count).sum() >= mergeAfter;
        for (LiveRows part : open) {
            if (!full && part.hasRoomFor(vector)) {
                return part;
            }
        }
        if (full) {
            // Whether or not there is memory for another part: the merge may free some.
            sealAll();
            merges.request();
        }
        limit().admit(name(), this::bytesWithAnotherPart);
        LiveRows next = LiveRows.empty(options.metric(), vector, mergeAfter);
        List<LiveRows> more = new ArrayList<>(parts.all());
        more.add(next);
        List<LiveRows> all = List.copyOf(more);
        places.enter(next);
        open.add(next);
        parts.replace(all);
        return next;
    }

    /** Rows that are in no graph yet count as the bytes of their future graph, which must fit into the limit too. */
    private long bytesWithAnotherPart() {
        return options.bytesOf(mergeAfter, dimension()) + bytesOf(parts.all()) + places.bytes();
    }

    private long bytesOf(List<LiveRows> some) {
        long bytes = 0;
        for (LiveRows part : some) {
            bytes +=
                    part.hasGraph() ? part.bytes() : Math.max(part.bytes(), options.bytesOf(part.count(), dimension()));
        }
        return bytes;
    }

    private void sealAll() {
        open.forEach(LiveRows::seal);
        open.clear();
    }

    private void markDeleted(long place) {
        LiveRows part = places.part(place);
        part.remove(RowPlaces.row(place));
        if (part.asPart().hasManyTombstones()) {
            merges.request();
        }
    }

    /**
     * Merges all rows, as {@link #startMerge} does. Blocks, and ignores interrupts. Must not be called on a worker thread, which is
     * needed for the work.
     *
     * @throws io.github.roost.core.TableClosedException if the table is closed
     * @throws io.github.roost.core.OrchestratorClosedException if the orchestrator is closed
     * @throws IllegalStateException if a graph cannot be built
     */
    public void merge() {
        startMerge().join();
    }

    /**
     * Starts to merge all rows that the table has now: builds them into a graph, as batch work on the orchestrator's workers, until no
     * merge is due.
     *
     * @return the running merge. Its result is this table, once all these rows are in graphs; it fails with an
     *     {@link IllegalStateException} if a graph cannot be built, and with a
     *     {@link io.github.roost.core.TableClosedException} if the table is closed meanwhile. If it is cancelled, the merge under
     *     way ends, unless the table or another caller waits for it too, and its rows are searched one by one until the next merge
     * @throws io.github.roost.core.TableClosedException if the table is closed
     * @throws io.github.roost.core.OrchestratorClosedException if the orchestrator is closed
     */
    public TableBuild<LiveTable> startMerge() {
        synchronized (places) {
            requireOpen("a merge");
            sealAll();
        }
        return merges.start();
    }

    /** Does one merge that is due; returns false if none is. Run only by the background thread. */
    private boolean mergeOnce(BuildWork work) {
        List<LiveRows> merged;
        synchronized (places) {
            List<LiveRows> sealed =
                    parts.all().stream().filter(LiveRows::isSealed).toList();
            merged = MergeChoice.of(sealed.stream().map(LiveRows::asPart).toList()).stream()
                    .map(sealed::get)
                    .toList();
        }
        if (merged.isEmpty()) {
            return false;
        }
        BuildWork build = work.part(name() + " (build)");
        work.phase(1 - LATER_MERGES * (1 - work.progress()), build);
        AliveRows alive = new AliveRows(merged, dimension(), this::use);
        // The build holds the table only row by row, so closing it, which cancels the build, need not wait for it.
        LiveRows built = alive.size() == 0
                ? null
                : LiveRows.withGraph(LayoutSelection.requested(build, name(), options, alive.ids(), alive)
                        .graph());
        try (var _ = use()) {
            synchronized (places) {
                replace(merged, built);
            }
        }
        if (built != null) {
            memory.isNew(0, built.memory());
        }
        return true;
    }

    /**
     * Replaces the merged parts by the part that was built from them. If a row was removed or replaced during the build, its id has no
     * place in the merged parts: the row is removed from the new part too.
     */
    private void replace(List<LiveRows> merged, @Nullable LiveRows built) {
        Set<LiveRows> gone = new HashSet<>(merged);
        List<LiveRows> left = partsWith(built, gone);
        if (built != null) {
            places.enter(built);
        }
        replaced.removeIf(part -> part.get() == null);
        merged.forEach(part -> replaced.add(new WeakReference<>(part)));
        // Nothing below allocates, so the change cannot stop halfway.
        for (int row = 0; built != null && row < built.count(); row++) {
            long place = places.get(built.id(row));
            if (place != RowPlaces.NOWHERE && gone.contains(places.part(place))) {
                places.put(built.id(row), built, row);
            } else {
                built.remove(row);
            }
        }
        for (LiveRows part : merged) {
            places.leave(part);
        }
        parts.replace(left);
    }

    /** The parts, with the merged ones replaced by the new one; parts with a graph first. */
    private List<LiveRows> partsWith(@Nullable LiveRows built, Set<LiveRows> gone) {
        List<LiveRows> withGraph = new ArrayList<>();
        List<LiveRows> added = new ArrayList<>();
        for (LiveRows part : parts.all()) {
            if (!gone.contains(part)) {
                (part.hasGraph() ? withGraph : added).add(part);
            }
        }
        if (built != null) {
            withGraph.add(built);
        }
        withGraph.addAll(added);
        return List.copyOf(withGraph);
    }

    /** For tests of failures. */
    RowPlaces places() {
        return places;
    }

    @Override
    public int size() {
        return size;
    }

    /** {@return the number of parts that have a graph} */
    public int graphParts() {
        return (int) parts.all().stream().filter(LiveRows::hasGraph).count();
    }

    /** The number of parts without a graph. */
    int scannedParts() {
        return parts.all().size() - graphParts();
    }

    @Override
    public TableStats stats() {
        List<LiveRows> all = parts.all();
        long bytes = registration().isOpen()
                ? all.stream().mapToLong(LiveRows::bytes).sum() + placeBytes
                : 0;
        return new TableStats(name(), "live", size, dimension(), metric(), elementType(), all.size(), bytes, recall());
    }

    /**
     * Saves a snapshot of the table to a file, replacing any file of that name. The snapshot contains every change that had returned
     * before the call, and concurrent changes up to one point in time. Changes wait while the snapshot is taken, a few nanoseconds per row;
     * while the file is written, changes, searches and merges continue. The file is written under a temporary name, synced and
     * renamed: if the process dies at any point, either the old or the new file is there, complete.
     *
     * <p>The whole table is written each time, including rows of parts with a graph that are tombstones; after a {@link #merge()} these
     * are less than half of each part. The memory of the parts is kept until the file is written.
     *
     * @param file the file to write or replace
     * @throws IOException if it cannot be written; the old file is as it was, unless only the last sync failed
     */
    @Override
    public void save(Path file) throws IOException {
        try (var _ = use()) {
            snapshot().save(file);
        }
    }

    /** A snapshot of the table, taken under the lock. Later changes do not affect it. */
    LiveTableFile snapshot() {
        synchronized (places) {
            return new LiveTableFile(
                    options,
                    dimension(),
                    mergeAfter,
                    parts.all().stream()
                            .filter(part -> part.count() > 0)
                            .map(LiveRows::now)
                            .toList());
        }
    }

    /**
     * Opens a saved table, which can be changed again. It has the options it was built with; its graphs are mapped from the file,
     * and rows that had no graph yet are read into memory. The file is read once to verify its checksums. It must not be modified
     * while the table is open, but may be replaced by {@link #save} or deleted.
     *
     * @param orchestrator places the table, and merges its rows
     * @param name the table's name in reports
     * @param file a file written by {@link #save}
     * @return the table, to be closed
     * @throws IOException if the file cannot be read or is not a complete live table; the message names the fault and its offset
     */
    public static LiveTable open(Orchestrator orchestrator, String name, Path file) throws IOException {
        Objects.requireNonNull(orchestrator, "orchestrator must not be null");
        Objects.requireNonNull(name, "name must not be null");
        LiveTableFile saved = LiveTableFile.open(file);
        List<LiveRows> parts = new ArrayList<>();
        for (RowsSnapshot part : saved.parts()) {
            // Only the last part takes new rows: spare capacity in each could take far more memory than the file's
            // size.
            boolean last = parts.size() == saved.parts().size() - 1;
            parts.add(LiveRows.of(part, last ? saved.mergeAfter() : part.rows()));
            if (!last) {
                parts.getLast().seal();
            }
        }
        LiveTable table = new LiveTable(
                orchestrator,
                name,
                saved.options(),
                saved.dimension(),
                saved.mergeAfter(),
                parts.stream().mapToInt(LiveRows::count).sum(),
                DomainMemory::migrate);
        if (!table.begin(parts)) {
            table.close();
            throw new FileFormatException(file, 0, "holds two rows of one id");
        }
        // Resumes a merge that was under way when the table was saved.
        table.merges.request();
        return table;
    }

    @Override
    public void close() {
        // Closed first, so that a merge that ends because the table closes is not reported as a failure.
        merges.close();
        super.close();
    }

    @Override
    protected void free() {
        synchronized (places) {
            places.close();
            parts.all().forEach(part -> DomainMemory.release(part.memory()));
            for (WeakReference<LiveRows> reference : replaced) {
                LiveRows part = reference.get();
                if (part != null) {
                    DomainMemory.release(part.memory());
                }
            }
        }
    }

    /** Collects the options of a table. Not thread-safe. */
    public static final class Builder extends GraphTableBuilder<Builder> {
        private int mergeAfter = 2_048;

        private Builder() {
            super("live");
        }

        /**
         * Sets the number of added rows after which they are merged. Until then, searches scan them exhaustively.
         *
         * @param value from 64 to 1,000,000; default 2,048
         * @return this builder
         */
        public Builder mergeAfter(int value) {
            Vectors.requireRange("mergeAfter", value, MIN_MERGE_AFTER, MAX_MERGE_AFTER);
            this.mergeAfter = value;
            return this;
        }

        /**
         * Creates an empty table.
         *
         * @param orchestrator places the table, and merges its rows
         * @param dimension components per vector, from 1 to 4,096
         * @return the table, to be closed
         */
        public LiveTable build(Orchestrator orchestrator, int dimension) {
            Objects.requireNonNull(orchestrator, "orchestrator must not be null");
            Vectors.requireRange("dimension", dimension, 1, Vectors.MAX_DIMENSIONS);
            return limited(
                    new LiveTable(orchestrator, name(), options(), dimension, mergeAfter, 0, mover()), memoryLimit());
        }

        /**
         * Creates a table with initial rows, whose graph is built on the orchestrator's workers. Blocks, and ignores interrupts: for a
         * build that can be ended early, use {@link #start} and {@link TableBuild#cancel()}.
         *
         * @param orchestrator builds and places the table
         * @param ids one external id per row, all different
         * @param vectors at least one, all of one dimension from 1 to 4,096, finite; must not change during the build
         * @return the table, to be closed
         * @throws IllegalArgumentException if a row or id is invalid
         */
        public LiveTable build(Orchestrator orchestrator, long[] ids, float[][] vectors) {
            int dimension = Vectors.requireTable(vectors, options().metric());
            Vectors.requireIds(ids, vectors.length);
            requireRoom(vectors.length, dimension);
            Graph graph = LayoutSelection.requested(
                            work(orchestrator), name(), options(), ids, VectorSource.of(vectors))
                    .graph();
            LiveTable table =
                    new LiveTable(orchestrator, name(), options(), dimension, mergeAfter, vectors.length, mover());
            table.begin(List.of(LiveRows.withGraph(graph)));
            return limited(table, memoryLimit());
        }

        /**
         * Starts to build a table from any source of rows, as batch work on the orchestrator's workers, yielding to searches. The
         * rows are read once, into memory outside the Java heap. The builder may be reused at once.
         *
         * @param orchestrator builds and places the table
         * @param ids one external id per row, all different; must not change during the build
         * @param rows at least one, of 1 to 4,096 dimensions; a row that is not finite, or zero for cosine, fails the build
         * @return the running build; its result is to be closed
         * @throws IllegalArgumentException if the ids or the dimension are invalid
         * @throws io.github.roost.vector.TableFullException if the rows exceed the memory limit
         */
        public TableBuild<LiveTable> start(Orchestrator orchestrator, long[] ids, VectorSource rows) {
            BuildWork.requireRows(ids, rows);
            requireRoom(rows.size(), rows.dimension());
            long max = memoryLimit();
            GraphOptions graph = options();
            String tableName = name();
            TableMemory.Mover tableMover = mover();
            int rowsBeforeMerge = mergeAfter;
            return work(orchestrator).start(work -> {
                Graph built = LayoutSelection.requested(work, tableName, graph, ids, rows)
                        .graph();
                LiveTable table = new LiveTable(
                        orchestrator, tableName, graph, rows.dimension(), rowsBeforeMerge, rows.size(), tableMover);
                table.begin(List.of(LiveRows.withGraph(built)));
                return limited(table, max);
            });
        }
    }
}
