package io.github.roost.index.hnsw;

import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.TableFileException;
import io.github.roost.core.TableMemory;
import io.github.roost.core.Vectors;
import io.github.roost.core.vector.BuildWork;
import io.github.roost.core.vector.IdFilter;
import io.github.roost.core.vector.TableBuild;
import io.github.roost.core.vector.TableStats;
import io.github.roost.core.vector.VectorSource;
import io.github.roost.index.hnsw.LiveRows.Moment;
import io.github.roost.topology.DomainMemory;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An HNSW table that is changed while it is searched, placed by an orchestrator as one mapping id.
 *
 * <p>It is made of parts, after the log-structured merge tree (O'Neil et al., Acta Informatica 33(4), 1996): frozen graphs,
 * and recently added rows, each of which searches compare. When there are enough of them, they are built into a graph on the
 * orchestrator's workers, as batch work, together with older parts that are not much larger or mostly tombstones; then the new
 * part replaces the old ones in one step. Tombstones in frozen parts are skipped until then. So the number of parts grows with
 * the logarithm of the rows, and so does the number of times that a row is built into a graph.
 *
 * <p>Besides its rows the table keeps where each id is, 20 to 40 bytes per row outside the heap. Under more changes than the
 * workers can build, the rows not yet frozen grow, and searches slow down with them. On a machine of several NUMA nodes the
 * memory of frozen parts follows the table's home ({@link TableMemory}), unless it is mapped from a file; rows not yet
 * frozen stay on the node of the thread that wrote them until the home moves.
 *
 * <p>Thread-safe. Changes are made one at a time, in the calling threads; searches never wait for them.
 */
public final class LiveTable extends GraphTable {
    static final int MIN_FREEZE_AFTER = 64;
    static final int MAX_FREEZE_AFTER = 1_000_000;

    private final GraphOptions options;
    private final int freezeAfter;
    private final BackgroundFreeze freeze;

    /**
     * All parts: those with a graph, then those without, older ones first. Replaced by the holder of the
     * lock only. How searches lose nothing is said at {@link #find(float[], int, int, IdFilter, GraphVisit)}.
     */
    private volatile List<LiveRows> parts = List.of();

    /**
     * The parts that rows are added to, which have fewer than {@code freezeAfter} rows together, or as many. There are several
     * where rows differ so much in magnitude that no part can tell all of them apart: one for each 20 binary orders or
     * more, so 15 at most. Guarded by the lock.
     */
    private final List<LiveRows> open = new ArrayList<>(16);

    /** Where the row of each id is, always alive; the number of every part. Guarded by the lock, which is this. */
    private final RowPlaces places = new RowPlaces();

    /** These two say what {@link #places} are, to those who do not have the lock. Written by {@link #count}. */
    private volatile int size;

    private volatile long placeBytes;

    private final TableMemory memory;

    /** Parts that others have replaced, and that searches may still read. Guarded by the lock. */
    private final List<WeakReference<LiveRows>> replaced = new ArrayList<>();

    private LiveTable(
            Orchestrator orchestrator,
            String name,
            GraphOptions options,
            int dimension,
            int freezeAfter,
            TableMemory.Mover mover) {
        super(orchestrator, orchestrator.register(name), options.metric(), options.elementType(), dimension);
        this.options = options;
        this.freezeAfter = freezeAfter;
        this.freeze = new BackgroundFreeze(name, this::mergeOnce);
        this.memory = TableMemory.keepAtHome(
                orchestrator, registration(), cluster -> parts.stream().map(LiveRows::memory), mover);
    }

    /** Takes over the first parts; returns whether no id is alive twice in them. */
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
            parts = List.copyOf(first);
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

    /** A search that runs meanwhile finds the old row or the new one. */
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
                limit().admit(name(), () -> bytesOf(parts) + places.bytesWithAnother());
            }
            LiveRows part = partFor(vector);
            int row = part.add(id, vector);
            long old;
            try {
                old = places.put(id, part, row);
            } catch (Throwable failed) {
                // A row that no place names could never be removed.
                part.remove(row);
                throw failed;
            }
            count();
            if (old != RowPlaces.NOWHERE) {
                kill(old);
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
                    kill(old);
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

    @Override
    float @Nullable [] vectorAt(int row) {
        int left = row;
        for (LiveRows part : parts) {
            int count = part.count();
            if (left < count) {
                return part.isAlive(left) ? part.vector(left) : null;
            }
            left -= count;
        }
        return null;
    }

    @Override
    int rows() {
        return parts.stream().mapToInt(LiveRows::count).sum();
    }

    @Override
    Neighbors exact(float[] query, int k, GraphVisit visit) {
        return NewestOfEach.merge(
                parts.stream().map(part -> part.exact(query, k, visit)).toList(), k);
    }

    /** Tells those without the lock of the places what these are now; called under it. */
    private void count() {
        size = places.size();
        placeBytes = places.bytes();
    }

    /** The part to add a row to. When the open ones have enough rows together, these are left to be frozen. */
    private LiveRows partFor(float[] vector) {
        boolean full = open.stream().mapToInt(LiveRows::count).sum() >= freezeAfter;
        for (LiveRows part : open) {
            if (!full && part.hasRoomFor(vector)) {
                return part;
            }
        }
        limit().admit(name(), this::bytesWithAnotherPart);
        LiveRows next = LiveRows.empty(options.metric(), vector, freezeAfter);
        List<LiveRows> more = new ArrayList<>(parts);
        more.add(next);
        List<LiveRows> all = List.copyOf(more);
        places.enter(next);
        if (full) {
            sealAll();
        }
        open.add(next);
        parts = all;
        if (full) {
            freeze.request();
        }
        return next;
    }

    /** Rows that are not frozen yet count as what they will be: their graph must have room, too. */
    private long bytesWithAnotherPart() {
        return options.bytesOf(freezeAfter, dimension()) + bytesOf(parts) + places.bytes();
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

    private void kill(long place) {
        LiveRows part = places.part(place);
        part.remove(RowPlaces.row(place));
        if (part.asPart().isMostlyDead()) {
            freeze.request();
        }
    }

    /**
     * Searches all parts. A row that is replaced dies after its successor has been added: a search that comes to the row when
     * it is dead finds the successor if it looks afterwards at all rows that have been added meanwhile, in whatever part. So
     * it looks again when it is through, until nothing has been added. If all parts that it has searched are still where they
     * were, what it has not seen is at their ends, or in parts behind them, whether rows were added there or moved there from
     * each other, and the search goes on with those. If not, rows that it has searched may have been moved, and it begins
     * again; that happens once in {@code freezeAfter} changes, so it is rare. A search that sees several rows of one id,
     * because they replace each other meanwhile, looks for as many more as it needs to find k ids.
     */
    @SuppressWarnings("ReferenceEquality") // whether the parts are still the list that was read, not one like it
    @Override
    Neighbors find(float[] query, int k, int ef, IdFilter filter, GraphVisit visit) {
        List<Neighbors> found = new ArrayList<>();
        List<LiveRows> searched = List.of();
        // Of each part the rows that have been searched.
        int[] rows = {};
        for (int wanted = k; true; visit.requireWanted()) {
            List<LiveRows> all = parts;
            if (!beginsWith(all, searched)) {
                found.clear();
                rows = new int[0];
            }
            rows = Arrays.copyOf(rows, all.size());
            searched = all;
            for (int i = 0; i < rows.length; i++) {
                LiveRows part = all.get(i);
                if (rows[i] < part.count()) {
                    if (!found.isEmpty()) {
                        visit.requireWanted();
                    }
                    rows[i] = part.search(query, wanted, Math.max(ef, wanted), filter, rows[i], visit, found);
                }
            }
            if (all == parts && isUpTo(all, rows)) {
                Neighbors merged = NewestOfEach.merge(found, k);
                int mostRows = all.stream().mapToInt(LiveRows::count).max().orElse(0);
                if (visit.isCutShort() || !NewestOfEach.isShort(merged, found, k, wanted, mostRows)) {
                    return merged;
                }
                wanted = (int) Math.min(2L * wanted, mostRows);
                found.clear();
                rows = new int[0];
            }
        }
    }

    /** Whether parts have no more rows than have been searched. */
    private static boolean isUpTo(List<LiveRows> all, int[] rows) {
        for (int i = 0; i < rows.length; i++) {
            if (all.get(i).count() > rows[i]) {
                return false;
            }
        }
        return true;
    }

    private static boolean beginsWith(List<LiveRows> all, List<LiveRows> first) {
        return first.size() <= all.size() && all.subList(0, first.size()).equals(first);
    }

    /**
     * Freezes all rows, and waits until that is done and no more merging is due. Not for a worker's thread, which is
     * needed for the work.
     *
     * @throws io.github.roost.core.task.TableClosedException if the table is closed
     * @throws IllegalStateException if a graph cannot be built
     * @throws InterruptedException if the calling thread is interrupted; the work goes on
     */
    public void freeze() throws InterruptedException {
        synchronized (places) {
            requireOpen();
            sealAll();
        }
        freeze.request();
        freeze.await();
    }

    /** Merges what is due; whether anything was. Run by the background thread alone. */
    private boolean mergeOnce() {
        List<LiveRows> merged;
        synchronized (places) {
            List<LiveRows> sealed = parts.stream().filter(LiveRows::isSealed).toList();
            merged = MergeChoice.of(sealed.stream().map(LiveRows::asPart).toList()).stream()
                    .map(sealed::get)
                    .toList();
        }
        if (merged.isEmpty()) {
            return false;
        }
        AliveRows alive = new AliveRows(merged, dimension(), this::use);
        // The table is not held meanwhile: who closes it need not wait for a build.
        LiveRows built = alive.size() == 0 ? null : build(alive);
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

    private LiveRows build(AliveRows alive) {
        BuildWork work = new BuildWork(orchestrator(), name() + " (build)");
        return LiveRows.frozen(new FrozenGraph(new GraphBuild(work, options).run(alive.ids(), alive)));
    }

    /**
     * Puts a part in the place of those it was built of. A row that died or was replaced while it was built is no longer
     * at a place in those parts: it dies in the new one too.
     */
    private void replace(List<LiveRows> merged, @Nullable LiveRows built) {
        Set<LiveRows> gone = new HashSet<>(merged);
        List<LiveRows> left = partsWith(built, gone);
        if (built != null) {
            places.enter(built);
        }
        replaced.removeIf(part -> part.get() == null);
        merged.forEach(part -> replaced.add(new WeakReference<>(part)));
        // From here on no memory is needed: the change is whole.
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
        parts = left;
    }

    /** The parts, those with a graph first, with a new one in the place of those that are gone. */
    private List<LiveRows> partsWith(@Nullable LiveRows built, Set<LiveRows> gone) {
        List<LiveRows> frozen = new ArrayList<>();
        List<LiveRows> added = new ArrayList<>();
        for (LiveRows part : parts) {
            if (!gone.contains(part)) {
                (part.hasGraph() ? frozen : added).add(part);
            }
        }
        if (built != null) {
            frozen.add(built);
        }
        frozen.addAll(added);
        return List.copyOf(frozen);
    }

    /** For tests of what fails. */
    RowPlaces places() {
        return places;
    }

    @Override
    public int size() {
        return size;
    }

    /** {@return the number of parts that have a graph} */
    public int frozenParts() {
        return (int) parts.stream().filter(LiveRows::hasGraph).count();
    }

    /** How many parts have no graph. */
    int unfrozenParts() {
        return parts.size() - frozenParts();
    }

    @Override
    public boolean isMutable() {
        return true;
    }

    @Override
    public TableStats stats() {
        List<LiveRows> all = parts;
        long bytes = registration().isOpen()
                ? all.stream().mapToLong(LiveRows::bytes).sum() + placeBytes
                : 0;
        return new TableStats(name(), "live", size, dimension(), metric(), elementType(), all.size(), bytes);
    }

    /**
     * Saves the table as it is at one moment as a file, replacing one of that name: every change that has returned is in
     * it, and of concurrent changes all up to that moment. Changes wait while the snapshot is taken, a few nanoseconds per row;
     * while the file is written they go on, as searches and freezing do. The file is written under a temporary name, synced and
     * renamed: a process that dies at any point leaves the old file or the new one, whole.
     *
     * <p>The whole table is written each time, with the tombstones of frozen parts that are not yet merged: a {@link #freeze()}
     * before leaves at most half of them. The memory of the parts is kept until the file is written.
     *
     * @param file to write or replace
     * @throws IOException if it cannot be written; the old file is as it was, unless only the last sync failed
     */
    @Override
    public void save(Path file) throws IOException {
        try (var _ = use()) {
            moment().save(file);
        }
    }

    /** What the table is at one moment: noted while no change is made, and not changed by those that follow. */
    LiveTableFile moment() {
        synchronized (places) {
            return new LiveTableFile(
                    options,
                    dimension(),
                    freezeAfter,
                    parts.stream()
                            .filter(part -> part.count() > 0)
                            .map(LiveRows::now)
                            .toList());
        }
    }

    /**
     * Opens a saved table, which is live again: with the options it was built with, its graphs mapped from the file,
     * and the rows that were not yet frozen in memory. The file is read once to check it; it must not be changed while
     * the table is open, but may be replaced by {@link #save} or deleted.
     *
     * @param orchestrator places the table, and freezes its rows
     * @param name under which the table shows in reports
     * @param file that {@link #save} has written
     * @return the table, to be closed
     * @throws IOException if the file cannot be read or holds no whole live table; the message says what is wrong where
     */
    public static LiveTable open(Orchestrator orchestrator, String name, Path file) throws IOException {
        LiveTableFile saved = LiveTableFile.open(file);
        List<LiveRows> parts = new ArrayList<>();
        for (Moment part : saved.parts()) {
            // Rows are added to the last part alone: room in each could be more memory by far than the file has bytes.
            boolean last = parts.size() == saved.parts().size() - 1;
            parts.add(LiveRows.of(part, last ? saved.freezeAfter() : part.rows()));
            if (!last) {
                parts.getLast().seal();
            }
        }
        LiveTable table = new LiveTable(
                orchestrator, name, saved.options(), saved.dimension(), saved.freezeAfter(), DomainMemory::migrate);
        if (!table.begin(parts)) {
            table.close();
            throw new TableFileException(file, 0, "holds two rows of one id");
        }
        // What was being frozen when the table was saved.
        table.freeze.request();
        return table;
    }

    @Override
    public void close() {
        // First, so that what ends it does not count as a failure.
        freeze.close();
        orchestrator().indexing().closeTable(registration(), this::free);
    }

    private void free() {
        synchronized (places) {
            places.close();
            parts.forEach(part -> DomainMemory.release(part.memory()));
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
        private int freezeAfter = 2_048;

        private Builder() {
            super("live");
        }

        /**
         * Sets how many rows are added before they are frozen. Searches look at each of them until then.
         *
         * @param value from 64 to 1,000,000; default 2,048
         * @return this builder
         */
        public Builder freezeAfter(int value) {
            Vectors.requireRange("freezeAfter", value, MIN_FREEZE_AFTER, MAX_FREEZE_AFTER);
            this.freezeAfter = value;
            return this;
        }

        /**
         * Makes an empty table.
         *
         * @param orchestrator places the table, and freezes its rows
         * @param dimension of the vectors to come, from 1 to 4,096
         * @return the table, to be closed
         */
        public LiveTable build(Orchestrator orchestrator, int dimension) {
            Vectors.requireRange("dimension", dimension, 1, Vectors.MAX_DIMENSIONS);
            return limited(
                    new LiveTable(orchestrator, name(), options(), dimension, freezeAfter, mover()), memoryLimit());
        }

        /**
         * Makes a table of some rows to begin with, built on the orchestrator's workers.
         *
         * @param orchestrator places the table, and builds it
         * @param ids one external id per row, none twice
         * @param rows at least one, all of one dimension from 1 to 4,096, finite; must not change during the build
         * @return the table, to be closed
         */
        public LiveTable build(Orchestrator orchestrator, long[] ids, float[][] rows) {
            int dimension = Vectors.requireTable(rows, options().metric());
            Vectors.requireIds(ids, rows.length);
            requireRoom(rows.length, dimension);
            FrozenGraph graph = FrozenGraph.build(work(orchestrator), options(), ids, rows);
            LiveTable table = build(orchestrator, dimension);
            table.begin(List.of(LiveRows.frozen(graph)));
            return table;
        }

        /**
         * Begins to build a table of rows from wherever they are, on the orchestrator's workers, as batch work beside what they
         * serve. The rows are read once, into memory outside the Java heap. The builder may be used again at once.
         *
         * @param orchestrator places the table, and builds it
         * @param ids one external id per row, none twice; must not change during the build
         * @param rows at least one, of 1 to 4,096 dimensions; a row that is not finite, or zero for cosine, fails the build
         * @return under way; its result is to be closed
         * @throws IllegalArgumentException if ids or dimension are invalid
         */
        public TableBuild<LiveTable> start(Orchestrator orchestrator, long[] ids, VectorSource rows) {
            requireSource(ids, rows);
            requireRoom(rows.size(), rows.dimension());
            long most = memoryLimit();
            GraphOptions graph = options();
            String tableName = name();
            TableMemory.Mover tableMover = mover();
            int rowsBeforeFreeze = freezeAfter;
            return TableBuild.start(work(orchestrator), work -> {
                FrozenGraph built = new FrozenGraph(new GraphBuild(work, graph).run(ids, rows));
                LiveTable table =
                        new LiveTable(orchestrator, tableName, graph, rows.dimension(), rowsBeforeFreeze, tableMover);
                table.begin(List.of(LiveRows.frozen(built)));
                return limited(table, most);
            });
        }
    }
}
