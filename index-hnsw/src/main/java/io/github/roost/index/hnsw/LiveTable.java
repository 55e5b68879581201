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
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An HNSW table that is changed while it is searched, placed by an orchestrator as one mapping id.
 *
 * <p>It is made of parts, after the log-structured merge tree (O'Neil et al., Acta Informatica 33(4), 1996): frozen graphs,
 * and rows that were added lately, of which searches look at each. When there are enough of those, they are built into a
 * graph on the orchestrator's workers, as batch work, together with older parts that are not much larger or mostly dead;
 * then the new part takes the places of the old in one step. Rows that die in frozen parts are skipped until then. So the
 * number of parts grows with the logarithm of the rows, and a row is built into a graph about as many times.
 *
 * <p>Besides its rows the table keeps on the heap where each id is, some 100 bytes a row. Under more changes than the
 * workers can build, the rows not yet frozen grow, and searches slow down with them. On a machine of several NUMA nodes the
 * memory of frozen parts follows the table's home ({@link TableMemory}), unless it is mapped from a file; that of rows not yet
 * frozen lies where they were written from until the home moves.
 *
 * <p>Thread-safe. Changes are made one at a time, by whichever threads ask; searches never wait for them.
 */
public final class LiveTable extends GraphTable {
    static final int LEAST_FREEZE_AFTER = 64;
    static final int MOST_FREEZE_AFTER = 1_000_000;

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

    /** Where the row of each id is, always alive. Guarded by the lock, which is this map. */
    private final Map<Long, Place> places = new HashMap<>();

    private volatile int size;

    private final TableMemory memory;

    private record Place(LiveRows part, int row) {}

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
                for (int row = 0; row < part.count(); row++) {
                    if (part.isAlive(row) && places.put(part.id(row), new Place(part, row)) != null) {
                        return false;
                    }
                }
            }
            parts = List.copyOf(first);
            first.stream().filter(part -> !part.isSealed()).forEach(open::add);
            size = places.size();
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
        synchronized (places) {
            requireOpen();
            LiveRows part = partFor(vector);
            Place old = places.put(id, new Place(part, part.add(id, vector)));
            if (old != null) {
                kill(old);
            }
            size = places.size();
            return old == null;
        }
    }

    @Override
    public boolean remove(long id) {
        synchronized (places) {
            requireOpen();
            Place old = places.remove(id);
            if (old != null) {
                kill(old);
            }
            size = places.size();
            return old != null;
        }
    }

    @Override
    public float @Nullable [] vector(long id) {
        synchronized (places) {
            requireOpen();
            Place place = places.get(id);
            return place == null ? null : place.part().vector(place.row());
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

    /** The part to add a row to. When the open ones have enough rows together, these are left to be frozen. */
    private LiveRows partFor(float[] vector) {
        boolean full = open.stream().mapToInt(LiveRows::count).sum() >= freezeAfter;
        for (LiveRows part : open) {
            if (!full && part.hasRoomFor(vector)) {
                return part;
            }
        }
        LiveRows next = LiveRows.empty(options.metric(), vector, freezeAfter);
        List<LiveRows> more = new ArrayList<>(parts);
        more.add(next);
        List<LiveRows> all = List.copyOf(more);
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

    private void sealAll() {
        open.forEach(LiveRows::seal);
        open.clear();
    }

    private void kill(Place place) {
        place.part().remove(place.row());
        if (place.part().asPart().isMostlyDead()) {
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
        List<Long> ids = new ArrayList<>();
        List<float[]> vectors = new ArrayList<>();
        for (LiveRows part : merged) {
            part.copyAlive((vector, id) -> {
                ids.add(id);
                vectors.add(vector);
            });
        }
        LiveRows built = ids.isEmpty() ? null : build(ids, vectors);
        synchronized (places) {
            replace(merged, built);
        }
        if (built != null) {
            memory.isNew(0, built.memory());
        }
        return true;
    }

    private LiveRows build(List<Long> ids, List<float[]> vectors) {
        return LiveRows.frozen(FrozenGraph.build(
                new BuildWork(orchestrator(), name() + " (build)"),
                options,
                ids.stream().mapToLong(Long::longValue).toArray(),
                vectors.toArray(float[][]::new)));
    }

    /**
     * Puts a part in the place of those it was built of. A row that died or was replaced while it was built is no longer
     * at a place in those parts: it dies in the new one too.
     */
    private void replace(List<LiveRows> merged, @Nullable LiveRows built) {
        Set<LiveRows> gone = new HashSet<>(merged);
        for (int row = 0; built != null && row < built.count(); row++) {
            Place place = places.get(built.id(row));
            if (place != null && gone.contains(place.part())) {
                places.put(built.id(row), new Place(built, row));
            } else {
                built.remove(row);
            }
        }
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
        parts = List.copyOf(frozen);
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
        long bytes = all.stream().mapToLong(LiveRows::bytes).sum();
        return new TableStats(name(), "live", size, dimension(), metric(), elementType(), all.size(), bytes);
    }

    /**
     * Saves the table as it is at one moment as a file, replacing one of that name: every change that has returned is in
     * it, and of those made meanwhile all up to the moment. Changes wait while the moment is noted, which takes a few
     * nanoseconds a row; while the file is written they go on, as searches and freezing do. Written beside the file under
     * a temporary name, synced and moved into place: a process that dies at any point leaves the old file or the new one,
     * whole.
     *
     * <p>The whole table is written each time, with the rows of frozen parts that have died and are not yet merged away:
     * {@link #freeze()} before leaves at most half of those. The memory of the parts is kept until the file is written.
     *
     * @param file to write or replace
     * @throws IOException if it cannot be written; the old file is as it was, unless only the last sync failed
     */
    @Override
    public void save(Path file) throws IOException {
        requireOpen();
        moment().save(file);
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
        registration().close();
        freeze.close();
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
            Vectors.requireRange("freezeAfter", value, LEAST_FREEZE_AFTER, MOST_FREEZE_AFTER);
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
            Vectors.requireRange("dimension", dimension, 1, Vectors.MOST_DIMENSIONS);
            return new LiveTable(orchestrator, name(), options(), dimension, freezeAfter, mover());
        }

        /**
         * Makes a table of some rows to begin with, built on the orchestrator's workers.
         *
         * @param orchestrator places the table, and builds it
         * @param ids one external id a row, none twice
         * @param rows at least one, all of one dimension from 1 to 4,096, finite; must not change during the build
         * @return the table, to be closed
         */
        public LiveTable build(Orchestrator orchestrator, long[] ids, float[][] rows) {
            int dimension = Vectors.requireTable(rows, options().metric());
            Vectors.requireIds(ids, rows.length);
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
         * @throws IllegalArgumentException if ids or dimension are not as said
         */
        public TableBuild<LiveTable> start(Orchestrator orchestrator, long[] ids, VectorSource rows) {
            requireSource(ids, rows);
            GraphOptions graph = options();
            String tableName = name();
            TableMemory.Mover tableMover = mover();
            int rowsBeforeFreeze = freezeAfter;
            return TableBuild.start(work(orchestrator), work -> {
                FrozenGraph built = new FrozenGraph(new GraphBuild(work, graph).run(ids, rows));
                LiveTable table =
                        new LiveTable(orchestrator, tableName, graph, rows.dimension(), rowsBeforeFreeze, tableMover);
                table.begin(List.of(LiveRows.frozen(built)));
                return table;
            });
        }
    }
}
