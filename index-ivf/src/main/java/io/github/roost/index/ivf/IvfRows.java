package io.github.roost.index.ivf;

import io.github.roost.neighborhash.NeighborHashMap;
import io.github.roost.neighborhash.spi.RowMap;
import io.github.roost.topology.system.DomainMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The contents of a table and the rules for changing them: writers take turns under the lock of this object, readers take no
 * lock. Maintenance takes that lock too, but does not wait while a file is written or a rebuild ends, as searches would wait
 * behind it.
 *
 * <p>During a rebuild, writers note the ids that they touch. The rebuild works from a copy of the rows; at its end
 * it brings the noted ids up to date under the lock and then puts its lists in force with one volatile store,
 * so no change is lost between copy and exchange.
 */
final class IvfRows {
    /** Changes after which it is looked at whether the lists still fit the rows: this share of the rows they were trained on, or a few. */
    private static final double LOOK_SHARE = 1 / 16.;

    private static final int FEW_CHANGES = 64;
    /** New rows that are unlike the old ones crowd into few lists: at this multiple of the trained imbalance lists are trained again. */
    private static final double MAX_IMBALANCE_GROWTH = 2;

    /** Rows whose lists one step of a flush finds. */
    private static final int ASSIGNED_PER_STEP = 4;

    private volatile Lists lists;
    /** Guarded by this. */
    private RowMap locations;
    /** Ids touched since the running rebuild began, or null without a rebuild. Guarded by this. */
    private @Nullable NeighborHashMap touched;
    /**
     * Changes with every move of a row, being odd during the move, and with every removal, as the row may be added again
     * elsewhere: a reader that finds it odd at its begin, or changed at its end, may have seen a row at two places. Writes are
     * guarded by this.
     */
    private volatile long moves;

    /** Called with the number of a list that begins another block: its previous block is full then. */
    private volatile IntConsumer growth = list -> {};

    private volatile Consumer<LongSupplier> limit = bytes -> {};

    /** Copies of the properties of {@link #locations}, for readers without the lock. Written by {@link #count}. */
    private volatile int size;

    private volatile long locationBytes;
    /** Rows added, removed or changed since the lists were trained. Written under the lock. */
    private volatile long changes;
    /** Number of changes at which {@link #claimTraining} looks again. Written under the lock. */
    private volatile long nextLook;
    /** Number of rows that the lists were trained on. Guarded by this. */
    private int trainedRows;
    /** Imbalance of the lists when they had been trained. Guarded by this. */
    private double trainedImbalance;
    /** The mapping of the table's file, or null. */
    private final @Nullable MemorySegment mapped;
    /** Lists replaced by a rebuild, which searches may still read. Guarded by this. */
    private WeakReference<Lists> replaced = new WeakReference<>(null);
    /** Taken before the lock of this: the write lock by work that holds that lock for long, the read lock by maintenance. */
    private final ReadWriteLock maintaining = new ReentrantReadWriteLock();

    IvfRows(Lists lists, RowMap locations) {
        this(lists, locations, null);
    }

    IvfRows(Lists lists, RowMap locations, @Nullable MemorySegment mapped) {
        this.mapped = mapped;
        this.lists = lists;
        this.locations = locations;
        count();
        trained();
    }

    private synchronized void trained() {
        changes = 0;
        trainedRows = size;
        trainedImbalance = imbalance();
        nextLook = changesUntilLook();
    }

    private long changesUntilLook() {
        return Math.max(FEW_CHANGES, (long) (LOOK_SHARE * trainedRows));
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // written under the callers' lock; volatile for readers
    private void countChanges(int more) {
        changes += more;
    }

    /**
     * Whether the lists no longer fit the rows, because as many rows have changed as they were trained on, or their imbalance has doubled; then
     * the caller should rebuild. Looks only now and then.
     */
    boolean claimTraining() {
        return changes >= nextLook && claimTrainingInTurn();
    }

    private synchronized boolean claimTrainingInTurn() {
        if (changes < nextLook || touched != null) {
            return false;
        }
        nextLook = changes + changesUntilLook();
        return changes >= trainedRows || imbalance() > MAX_IMBALANCE_GROWTH * trainedImbalance;
    }

    /** The lists in force. */
    Lists lists() {
        return lists;
    }

    /** The memory of a list in force. */
    Stream<MemorySegment> memory(int list) {
        Lists now = lists;
        return list < now.count() ? now.rows()[list].memory() : Stream.empty();
    }

    /** Sets the check of the memory limit; called with the bytes that the rows would take whenever a change takes more. */
    void limitBy(Consumer<LongSupplier> admits) {
        limit = admits;
    }

    /** Sets the listener for lists that begin another block, called under the lock of this; the previous blocks are full. */
    void onGrowth(IntConsumer listener) {
        growth = listener;
    }

    /** Updates the counts that readers without the lock use; called under the lock, or before other threads see this. */
    private void count() {
        size = locations.size();
        locationBytes = locations.bytes();
    }

    /** Number of rows. */
    int size() {
        return size;
    }

    /** For a search that begins now. */
    View view() {
        // Before the lists are read: a move between the two reads counts as a move during the search.
        long movesAtBegin = moves;
        return new View(lists, movesAtBegin, () -> moves);
    }

    /**
     * The state of the table that a search sees.
     *
     * @param lists in force when it began
     * @param movesAtBegin {@code moves}, read before the lists; odd while a row was being moved
     * @param moves the current number of moves of rows
     */
    record View(Lists lists, long movesAtBegin, LongSupplier moves) {
        /** Whether the search may have seen a row at two places: a row was moved, or removed and added again, since it began. */
        boolean mayRepeat() {
            return (movesAtBegin & 1) != 0 || moves.getAsLong() != movesAtBegin;
        }
    }

    /** Adds rows that have been checked, all or none. */
    void add(long[] ids, float[][] rows) {
        if (rows.length <= InsertBuffer.MAX_TOGETHER) {
            addInTurn(ids, rows);
        } else {
            alone(() -> addInTurn(ids, rows));
        }
    }

    private void addInTurn(long[] ids, float[][] rows) {
        Lists assignedTo = lists;
        int[] assigned = destinations(assignedTo, rows);
        synchronized (this) {
            for (long id : ids) {
                if (locations.get(id) != RowMap.NOWHERE) {
                    throw new IllegalArgumentException("id " + id + " is in the table already: update it instead");
                }
            }
            if (lists.quantizer() != assignedTo.quantizer()) {
                assigned = destinations(lists, rows);
            }
            long grows = locations.bytesWith(ids.length) - locations.bytes();
            if (grows > 0) {
                limit.accept(() -> bytes() + grows);
            }
            Staged staged = stage(lists, assigned, ids, rows, bytes -> limit.accept(() -> bytes.getAsLong() + grows));
            locate(lists, assigned, ids, staged);
            publish(lists, assigned, ids, staged);
            count();
            countChanges(ids.length);
        }
    }

    /** Per row the buffer, if it takes this many, or else a list. */
    private static int[] destinations(Lists to, float[][] rows) {
        if (!to.buffer().takes(rows.length)) {
            return assign(to, rows);
        }
        int[] buffer = new int[rows.length];
        Arrays.fill(buffer, to.bufferNumber());
        return buffer;
    }

    /** Removes a row; returns the list it was in, or -1 if there was none. */
    synchronized int remove(long id) {
        long location = locations.get(id);
        if (location == RowMap.NOWHERE) {
            return -1;
        }
        note(id);
        // First, as it fails if the list of a file is damaged.
        lists.rows(RowMap.group(location)).markDeleted(RowMap.row(location));
        locations.remove(id);
        // After the deletion: a reader that begins with the new number cannot see the row here.
        moves += 2;
        count();
        countChanges(1);
        return RowMap.group(location);
    }

    /** Replaces the vector of a row; returns the list it was in. */
    int update(long id, float[] row) {
        Lists assignedTo = lists;
        int assigned = assign(assignedTo, row)[0];
        synchronized (this) {
            long location = locations.get(id);
            if (location == RowMap.NOWHERE) {
                throw new IllegalArgumentException("id " + id + " is not in the table: add it instead");
            }
            if (lists.quantizer() != assignedTo.quantizer()) {
                assigned = assign(lists, row)[0];
            }
            RowList old = lists.rows(RowMap.group(location));
            old.makeWritable(RowMap.row(location));
            int[] to = {assigned};
            long[] ids = {id};
            Staged staged = stage(lists, to, ids, new float[][] {row}, limit);
            moves++;
            publish(lists, to, ids, staged);
            old.markDeleted(RowMap.row(location));
            moves++;
            countChanges(1);
            return RowMap.group(location);
        }
    }

    /**
     * Inserts a row, or replaces the vector of an existing row; returns the list that this was in, or -1 if it was inserted.
     * The lock is held throughout, so the table does not change between the lookup and the change.
     */
    synchronized int put(long id, float[] row) {
        if (locations.get(id) != RowMap.NOWHERE) {
            return update(id, row);
        }
        addInTurn(new long[] {id}, new float[][] {row});
        return -1;
    }

    /** A copy of the row of an id, or null. */
    synchronized float @Nullable [] row(long id) {
        long location = locations.get(id);
        return location == RowMap.NOWHERE
                ? null
                : lists.rows(RowMap.group(location)).row(RowMap.row(location));
    }

    /** Copies of rows of the lists, drawn at random with replacement. */
    float[][] sample(int count, Random random) {
        float[][] sample = new float[count][];
        for (int i = 0; i < count; i++) {
            sample[i] = draw(random);
        }
        return Arrays.stream(sample).filter(Objects::nonNull).toArray(float[][]::new);
    }

    private synchronized float @Nullable [] draw(Random random) {
        long live = Arrays.stream(lists.rows()).mapToLong(RowList::live).sum();
        long[] left = {live == 0 ? 0 : random.nextLong(live)};
        for (RowList list : lists.rows()) {
            if (left[0] < list.live()) {
                float[][] drawn = new float[1][];
                list.forEachLive((id, place) -> {
                    if (left[0]-- == 0) {
                        drawn[0] = list.row(place);
                    }
                });
                return drawn[0];
            }
            left[0] -= list.live();
        }
        return null;
    }

    /** Whether the lists keep codes. */
    boolean isCoded() {
        return lists.layout().codes();
    }

    /** Bytes of rows, ids, codes and {@link #locations}. */
    long bytes() {
        Lists now = lists;
        return Arrays.stream(now.rows()).mapToLong(RowList::bytes).sum()
                + now.buffer().bytes()
                + locationBytes;
    }

    private static Stream<MemorySegment> memory(Lists lists) {
        return Stream.concat(
                Arrays.stream(lists.rows()).flatMap(RowList::memory),
                lists.buffer().rows().memory());
    }

    /** Frees the memory of the rows, which no thread may read any more. */
    synchronized void release() {
        locations.close();
        Lists before = replaced.get();
        Stream.concat(memory(lists), before == null ? Stream.empty() : memory(before))
                .filter(memory -> !memory.isMapped())
                .forEach(DomainMemory::release);
        if (mapped != null) {
            DomainMemory.release(mapped);
        }
    }

    private static int[] assign(Lists to, float[]... rows) {
        int[] assigned = new int[rows.length];
        to.quantizer().assign(ordinal -> rows[ordinal], 0, rows.length, assigned);
        return assigned;
    }

    /** Rows that readers do not see yet: the place of each, and whether its list took memory for it. */
    private record Staged(int[] places, boolean[] grew) {}

    /**
     * Writes rows to lists, all or none, where readers do not see them; {@link #publish} follows. All steps that may run out of
     * memory are here, so that a failed change has changed nothing.
     *
     * @param room called with the bytes that the rows would take before more memory is taken; throws if that is too much
     */
    private Staged stage(Lists to, int[] assigned, long[] ids, float[][] rows, Consumer<LongSupplier> room) {
        Staged all = new Staged(new int[ids.length], new boolean[ids.length]);
        int staged = 0;
        try {
            while (staged < ids.length) {
                note(ids[staged]);
                RowList list = to.rows(assigned[staged]);
                long grows = list.bytesToStage();
                if (grows > 0) {
                    room.accept(() -> bytes() + grows);
                }
                all.places[staged] = list.stage(ids[staged], rows[staged]);
                all.grew[staged] = grows > 0 && assigned[staged] < to.count();
                staged++;
            }
        } finally {
            if (staged < ids.length) {
                for (int i = 0; i <= staged; i++) {
                    to.rows(assigned[i]).dropStaged();
                }
            }
        }
        return all;
    }

    /** Records the locations of staged rows that are new to the table, all or none: memory may run out. */
    private void locate(Lists to, int[] assigned, long[] ids, Staged staged) {
        int located = 0;
        try {
            while (located < ids.length) {
                locations.put(ids[located], assigned[located], staged.places[located]);
                located++;
            }
        } finally {
            if (located < ids.length) {
                for (int i = 0; i < ids.length; i++) {
                    locations.remove(ids[i]);
                    to.rows(assigned[i]).dropStaged();
                }
            }
        }
    }

    /** Shows readers the staged rows; cannot fail, as all the ids have locations. */
    private void publish(Lists to, int[] assigned, long[] ids, Staged staged) {
        for (int i = 0; i < ids.length; i++) {
            to.rows(assigned[i]).publishStaged();
            locations.put(ids[i], assigned[i], staged.places[i]);
        }
        for (int i = 0; i < ids.length; i++) {
            if (staged.grew[i]) {
                growth.accept(assigned[i]);
            }
        }
    }

    /** Called before a change: if the change fails, the noted id does no harm. */
    private void note(long id) {
        if (touched != null) {
            touched.put(id, 0);
        }
    }

    /** Maintenance in steps; one thread at a time. */
    @FunctionalInterface
    interface Steps {
        /** Runs one step. */
        Progress step();
    }

    /** How a step of maintenance ended. */
    enum Progress {
        /** There is more to do. */
        MORE,
        DONE,
        /** The step would have to wait. The rows are as before the first step, and no more steps follow. */
        PUT_OFF
    }

    /** Moves the rows of a buffer to lists, unless that has been done. Fails if the lists would exceed the memory limit: the rows stay in the buffer. */
    Steps flush(InsertBuffer buffer) {
        return new Flush(buffer, limit);
    }

    @FunctionalInterface
    private interface LongWork<E extends Exception> {
        void run() throws E;
    }

    /** Runs work that holds the lock of this for long; workers postpone maintenance meanwhile. */
    private <E extends Exception> void alone(LongWork<E> work) throws E {
        maintaining.writeLock().lock();
        try {
            work.run();
        } finally {
            maintaining.writeLock().unlock();
        }
    }

    private Progress maintain(Runnable work) {
        if (!maintaining.readLock().tryLock()) {
            return Progress.PUT_OFF;
        }
        try {
            work.run();
            return Progress.DONE;
        } finally {
            maintaining.readLock().unlock();
        }
    }

    /**
     * A flush: finds the lists of some rows per step, some microseconds, without the lock of the table, as that takes long with many lists; then it moves
     * all rows in one step under the lock, so that no search misses one.
     */
    private final class Flush implements Steps {
        private final InsertBuffer buffer;
        private final Consumer<LongSupplier> room;
        private final Lists assignedTo = lists;
        /** Of the rows that the buffer has now; later rows go to the next buffer. */
        private final float[][] copies;

        private final int[] assigned;
        private int done;
        private @Nullable InsertBuffer next;
        private boolean isOver;

        /** @param room called with the bytes that the rows would take before they take more; throws if that is too much */
        Flush(InsertBuffer buffer, Consumer<LongSupplier> room) {
            this.buffer = buffer;
            this.room = room;
            this.copies = new float[buffer.rows().rows()][];
            this.assigned = new int[copies.length];
        }

        @Override
        public Progress step() {
            Progress progress = maintain(this::stepOnce);
            return progress == Progress.DONE && !isOver ? Progress.MORE : progress;
        }

        private void stepOnce() {
            InsertBuffer ready = next;
            if (lists.buffer() != buffer || copies.length == 0) {
                isOver = true;
            } else if (done < copies.length) {
                assignSome();
            } else if (ready == null) {
                room.accept(() -> bytes() + InsertBuffer.bytesOfRoom(assignedTo.layout()));
                next = InsertBuffer.withRoom(assignedTo.layout());
            } else {
                moveAll(ready);
                isOver = true;
            }
        }

        private void assignSome() {
            int end = Math.min(copies.length, done + ASSIGNED_PER_STEP);
            for (int place = done; place < end; place++) {
                copies[place] = buffer.copyOfRow(place);
            }
            assignedTo.quantizer().assign(place -> copies[place], done, end, assigned);
            done = end;
        }

        private void moveAll(InsertBuffer ready) {
            synchronized (IvfRows.this) {
                if (lists.buffer() == buffer) {
                    handOver(copies, assigned, ready, room);
                }
            }
        }

        /** Runs all steps; called under the lock of the table. */
        void runAll() {
            while (done < copies.length) {
                assignSome();
            }
            if (copies.length > 0) {
                moveAll(InsertBuffer.withRoom(assignedTo.layout()));
            }
        }
    }

    /**
     * Moves all rows or, if memory is out, none.
     *
     * @param copies of the first rows of the buffer, meaningless for deleted rows; later rows go to the next buffer
     * @param assigned a list per copy
     * @param room called with the bytes that the rows would take before a list grows; throws if that is too much
     */
    @SuppressWarnings("NonAtomicVolatileUpdate") // written under the callers' lock; volatile for readers
    private void handOver(float[][] copies, int[] assigned, InsertBuffer next, Consumer<LongSupplier> room) {
        // Both buffers take memory until the last search of the old one ends.
        Consumer<LongSupplier> roomBeside = bytes -> room.accept(() -> bytes.getAsLong() + next.bytes());
        roomBeside.accept(this::bytes);
        RowList from = lists.buffer().rows();
        Lists after = lists.with(next);
        long[] ids = new long[from.live()];
        int[] to = new int[ids.length];
        float[][] rows = new float[ids.length][];
        int[] count = {0};
        from.forEachLive((id, place) -> {
            boolean isCopied = place < copies.length;
            ids[count[0]] = id;
            to[count[0]] = isCopied ? assigned[place] : after.bufferNumber();
            rows[count[0]++] = isCopied ? copies[place] : from.row(place);
        });
        Staged staged = stage(after, to, ids, rows, roomBeside);
        moves++;
        publish(after, to, ids, staged);
        lists = after;
        moves++;
    }

    /**
     * Whether a {@link #compaction} pays for a list and is not queued already; then the caller must queue it, or call
     * {@link #putOffCompaction}.
     */
    synchronized boolean claimCompaction(int list) {
        if (list >= lists.count()) {
            return false;
        }
        RowList rows = lists.rows()[list];
        boolean claimed = rows.isSparse() && !rows.isCompactionQueued();
        if (claimed) {
            rows.setCompactionQueued(true);
        }
        return claimed;
    }

    /** Lets the next caller that finds the list sparse queue its compaction. */
    void putOffCompaction(int list) {
        Lists now = lists;
        if (list < now.count()) {
            now.rows()[list].setCompactionQueued(false);
        }
    }

    /** Compacts a list, if that pays: one step, as the list must not change meanwhile. */
    Steps compaction(int list) {
        return () -> maintain(() -> compact(list));
    }

    private synchronized void compact(int list) {
        putOffCompaction(list);
        if (list < lists.count() && lists.rows()[list].isSparse()) {
            lists.rows()[list].compact((id, place) -> locations.put(id, list, place));
        }
    }

    /**
     * FAISS's imbalance factor of the lists without the buffer: 1 if all have the same length, {@code nlist} if one
     * has all rows.
     */
    synchronized double imbalance() {
        double sum = 0;
        double squares = 0;
        for (RowList list : lists.rows()) {
            sum += list.live();
            squares += (double) list.live() * list.live();
        }
        return sum == 0 ? 1 : squares * lists.count() / (sum * sum);
    }

    /**
     * Begins to note changes, and copies the rows list by list; unless it fails, {@link #exchange} or {@link #giveUp} must
     * follow.
     *
     * @param copied called after each list; may throw to give up
     */
    RowCopy copyForRebuild(Runnable copied) {
        synchronized (this) {
            if (touched != null) {
                throw new IllegalStateException("a rebuild is under way already");
            }
            // No memory limit: the rebuild soon replaces these lists.
            new Flush(lists.buffer(), bytes -> {}).runAll();
            touched = NeighborHashMap.builder(0).build();
        }
        try {
            RowCopy copy = new RowCopy(Math.max(16, size), lists.layout().dimension());
            try {
                for (int list = 0; list < lists.count(); list++) {
                    copyList(list, copy);
                    copied.run();
                }
                return copy;
            } catch (Throwable failed) {
                copy.close();
                throw failed;
            }
        } catch (RuntimeException | Error failure) {
            giveUp();
            throw failure;
        }
    }

    /** Skips rows touched since the begin, which {@link #exchange} adds: a moved row could be seen in two lists. */
    private void copyList(int list, RowCopy copy) {
        // Takes long if a file's list is read for the first time.
        alone(() -> copyListAlone(list, copy));
    }

    private synchronized void copyListAlone(int list, RowCopy copy) {
        NeighborHashMap noted = touched;
        RowList rows = lists.rows()[list];
        rows.forEachLive((id, place) -> {
            if (noted == null || noted.get(id, NeighborHashMap.ABSENT) == NeighborHashMap.ABSENT) {
                copy.add(id, rows.row(place));
            }
        });
    }

    /** Brings fresh lists up to date and puts them in force. Unless it fails, {@link #release} then closes the fresh locations. */
    void exchange(Lists fresh, RowMap freshLocations) {
        alone(() -> exchangeAlone(fresh, freshLocations));
    }

    private synchronized void exchangeAlone(Lists fresh, RowMap freshLocations) {
        if (touched != null) {
            touched.forEach((id, none) -> bringUpToDate(id, fresh, freshLocations));
        }
        giveUp();
        locations.close();
        locations = freshLocations;
        count();
        replaced = new WeakReference<>(lists);
        lists = fresh;
        trained();
    }

    private void bringUpToDate(long id, Lists fresh, RowMap freshLocations) {
        long stale = freshLocations.remove(id);
        if (stale != RowMap.NOWHERE) {
            fresh.rows()[RowMap.group(stale)].markDeleted(RowMap.row(stale));
        }
        long now = locations.get(id);
        if (now != RowMap.NOWHERE) {
            float[] row = lists.rows(RowMap.group(now)).row(RowMap.row(now));
            int list = assign(fresh, row)[0];
            freshLocations.put(id, list, fresh.rows()[list].add(id, row));
        }
    }

    /** Writes the table to a file; writers wait meanwhile. */
    void save(Path file, RowPreparation preparation, Training training, double rerank) throws IOException {
        alone(() -> saveAlone(file, preparation, training, rerank));
    }

    private synchronized void saveAlone(Path file, RowPreparation preparation, Training training, double rerank)
            throws IOException {
        // No memory limit: saving a full table must work.
        new Flush(lists.buffer(), bytes -> {}).runAll();
        int count = lists.count();
        long[][] ids = new long[count][];
        int[][] places = new int[count][];
        for (int list = 0; list < count; list++) {
            long[] idsOfList = new long[lists.rows()[list].live()];
            int[] placesOfList = new int[idsOfList.length];
            int[] next = {0};
            lists.rows()[list].forEachLive((id, place) -> {
                idsOfList[next[0]] = id;
                placesOfList[next[0]++] = place;
            });
            ids[list] = idsOfList;
            places[list] = placesOfList;
        }
        float[][] centroids = lists.quantizer().centroids();
        List<ScalarCodec> codecs = lists.layout().codes()
                ? Arrays.stream(lists.rows())
                        .map(each -> each.layout().requireCodec())
                        .toList()
                : List.of();
        new IvfFile(
                        preparation.metric(),
                        lists.layout(),
                        codecs,
                        preparation.exponent(),
                        training.measuresProbes() ? lists.nprobe() : training.nprobe(),
                        training.measuresProbes() ? training.targetRecall() : 0,
                        training.seed(),
                        rerank,
                        centroids,
                        ids)
                .save(file, (list, block) -> lists.rows()[list].copyTo(block, places[list]));
    }

    /** Stops noting changes; idempotent. */
    synchronized void giveUp() {
        if (touched != null) {
            touched.close();
            touched = null;
        }
    }
}
