package io.github.roost.rows;

import static io.github.roost.rows.Schema.INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.roost.core.SearchContext;
import io.github.roost.core.spi.Pending;
import io.github.roost.io.BlockIo;
import io.github.roost.io.BlockReads;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The fetch of one batch in which some rows are cold. Cold rows are read in file order, each block once and adjacent blocks together, up to a number
 * of blocks with one submission to the device; meanwhile the rows in memory are copied. When all rows have arrived, the batch is filled. A block that
 * cannot be read, or is damaged, fails only the rows in it.
 *
 * <p>Used by one thread at a time: a slice, then the thread that completes the last read, then the next slice. The completing thread verifies the
 * blocks, copies their rows and frees the buffers, as a search that is cancelled or past its deadline has no further slice to do so. A
 * {@link Pending} hands the state over, as for any search that parks on it. The completion touches no memory of the version, so the version may be
 * unloaded meanwhile.
 */
final class ColdFetch implements AutoCloseable {
    /** The maximum number of blocks read at once, unless one row has more. */
    private static final int MAX_BLOCKS = 256;
    /** The maximum memory reserved for cold rows before their lengths are known. */
    private static final long MAX_GUESSED_BYTES = 4L << 20;

    /** The maximum number of keys that the error of a late fetch names. */
    private static final int MAX_NAMED = 10;

    private final ColdValues values;
    private final ColdFile file;
    private final Projection projection;
    private final RowBatch rows;
    private final long[] keys;
    private final long[] payloads;
    /** Rows that are not written to the spill's file yet; null if the table takes no upserts. */
    private final Spill.@Nullable Tail tail;
    /** The offset of each row: of hot rows in their memory, then, of all rows, in the copies; negative for an absent or failed row. */
    private final long[] at;

    private final int[] bytes;
    /** The indexes of cold rows, in file order. */
    private final int[] cold;
    /** The number of these that have been read. */
    private int done;
    /** The end of the cold rows that are being read, which begin at {@link #done}. */
    private int end;

    private int maxBlocks = MAX_BLOCKS;
    private long[] blocks = {};
    private int blockCount;
    private @Nullable BlockReads reads;
    /** The failures of rows that cannot be read, by index; null if there are none. */
    private RowBatch.@Nullable ColdReadException @Nullable [] failures;

    private MemorySegment copies = MemorySegment.ofArray(new byte[0]);
    private long copied;

    ColdFetch(
            ColdValues values,
            Projection projection,
            RowBatch rows,
            MemorySegment keys,
            MemorySegment payloads,
            long[] at,
            int[] bytes,
            Spill.@Nullable Tail tail) {
        this.values = values;
        this.file = values.file();
        this.projection = projection;
        this.rows = rows;
        this.keys = toArray(keys, at.length);
        this.payloads = toArray(payloads, at.length);
        this.at = at;
        this.bytes = bytes;
        this.tail = tail;
        this.cold = IntStream.range(0, at.length)
                .filter(this::isCold)
                .boxed()
                .sorted(Comparator.comparingLong(i -> Places.unit(this.payloads[i])))
                .mapToInt(Integer::intValue)
                .toArray();
    }

    private static long[] toArray(MemorySegment longs, int n) {
        long[] array = new long[n];
        MemorySegment.copy(longs, JAVA_LONG, 0, array, 0, n);
        return array;
    }

    private boolean isCold(int i) {
        return at[i] >= 0 && Places.isCold(payloads[i]) && file.inTail(tail, payloads[i]) < 0;
    }

    /** Whether cold rows remain to be read. */
    boolean hasMore() {
        return done < cold.length;
    }

    /** Copies the rows in memory, as that memory may be reused later. To be called in the read section of the lookup. */
    void keepHot() {
        long sum = 0;
        for (int i = 0; i < at.length; i++) {
            if (at[i] >= 0 && tail != null && Places.isCold(payloads[i])) {
                long place = file.inTail(tail, payloads[i]);
                bytes[i] = place < 0 ? 0 : tail.content().get(INT, place);
            }
            sum += at[i] < 0 ? 0 : bytes[i];
        }
        // Assumes that cold rows are on average as long as hot rows, within bounds: one hot row may be much longer.
        int hot = at.length - cold.length;
        long guess = Math.min(MAX_GUESSED_BYTES, hot == 0 ? 0 : sum / hot * cold.length);
        reserve(Math.max(sum, Math.min(sum + guess, rows.maxBytes())));
        MemorySegment from = values.hot().memory();
        for (int i = 0; i < at.length; i++) {
            if (at[i] < 0 || isCold(i)) {
                continue;
            }
            long place = add(bytes[i]);
            if (tail != null && Places.isCold(payloads[i])) {
                long begin = file.inTail(tail, payloads[i]) + Integer.BYTES;
                MemorySegment.copy(tail.content(), begin, copies, place, bytes[i]);
            } else {
                MemorySegment.copy(from, at[i], copies, place, bytes[i]);
            }
            at[i] = place;
        }
    }

    private long add(int count) {
        reserve(copied + count);
        long place = copied;
        copied += count;
        return place;
    }

    private void reserve(long size) {
        // The batch's limit also bounds the copies of whole rows: one key may be requested many times.
        if (size > rows.maxBytes()) {
            throw new RowBatch.TooLargeException(size, rows.maxBytes());
        }
        if (size > copies.byteSize()) {
            long room = Math.min(rows.maxBytes(), Math.max(size, 2 * copies.byteSize()));
            MemorySegment more = MemorySegment.ofArray(new byte[(int) room]);
            MemorySegment.copy(copies, 0, more, 0, copied);
            copies = more;
        }
    }

    /** Chooses the rows to read next, and their blocks, in ascending order. */
    private void choose() {
        blockCount = 0;
        long last = -1;
        for (end = done; end < cold.length; end++) {
            long payload = payloads[cold[end]];
            long first = Math.max(last + 1, file.firstBlock(payload));
            long more = file.lastBlock(payload) + 1 - first;
            if (end > done && blockCount + more > maxBlocks) {
                return;
            }
            for (long block = first; block < first + more; block++) {
                if (blockCount == blocks.length) {
                    blocks = Arrays.copyOf(blocks, Math.max(16, 2 * blockCount));
                }
                blocks[blockCount++] = block;
                last = block;
            }
        }
    }

    /**
     * Begins reads, if none are in flight.
     *
     * @return whether reads are in flight; false if the buffers are in use by other searches, and the call can be repeated when some of these have
     *     ended
     */
    boolean begin(SearchContext context) {
        if (reads != null) {
            return true;
        }
        choose();
        BlockReads begun = file.io().reads();
        int spilled = 0;
        while (spilled < blockCount && !file.isSpilled(blocks[spilled])) {
            spilled++;
        }
        boolean allBegun = false;
        try {
            read(begun, context, 0, spilled);
            read(begun, context, spilled, blockCount);
            allBegun = true;
        } catch (BlockReads.BuffersExhaustedException e) {
            if (end == done + 1 && e.isForGood()) {
                throw e;
            }
            maxBlocks = Math.max(1, maxBlocks / 2);
            return false;
        } catch (IllegalStateException e) {
            throw gone(e);
        } finally {
            if (!allBegun) {
                // Reads of one file may have begun, but not of the other.
                begun.close();
            }
        }
        reads = begun;
        context.touched(blockCount, (long) blockCount * BlockIo.BLOCK_BYTES);
        values.read(blockCount);
        return true;
    }

    private void read(BlockReads begun, SearchContext context, int from, int to) {
        if (from < to) {
            begun.readMerged(context, file.file(blocks[from]), blocks, from, to);
        }
    }

    private RuntimeException gone(IllegalStateException closed) {
        VersionedRows.VersionGoneException gone = new VersionedRows.VersionGoneException(
                "version " + file.version() + " was unloaded while its rows were read: " + closed.getMessage());
        gone.initCause(closed);
        return gone;
    }

    /**
     * The event to park on.
     *
     * @return completed when the reads begun by {@link #begin} have ended and their rows are copied
     */
    Pending arrival() {
        int from = done;
        Pending arrival = new Pending(() -> unread(from));
        BlockReads begun = reads;
        if (begun == null) {
            throw new IllegalStateException("no reads were begun");
        }
        Pending all = begun.all();
        if (!all.await(() -> arrive(begun, arrival))) {
            arrive(begun, arrival);
        }
        return arrival;
    }

    /** Names the rows from {@code from} on, in file order. Reads nothing that changes, as the reads may end meanwhile. */
    private String unread(int from) {
        int named = Math.min(from + MAX_NAMED, cold.length);
        String list = IntStream.range(from, named)
                .mapToObj(i -> Long.toString(keys[cold[i]]))
                .collect(Collectors.joining(", "));
        return "the rows of keys " + list + (named < cold.length ? " and " + (cold.length - named) + " more" : "")
                + " of version " + file.version() + " to be read from " + file.path();
    }

    private void arrive(BlockReads ended, Pending arrival) {
        try {
            take(ended);
        } catch (Throwable failure) {
            arrival.completeExceptionally(failure);
            return;
        } finally {
            ended.close();
        }
        arrival.complete();
    }

    private void take(BlockReads ended) {
        BlockReads.Read[] taken = new BlockReads.Read[blockCount];
        try {
            for (BlockReads.Read read = ended.next(); read != null; read = ended.next()) {
                taken[Arrays.binarySearch(blocks, 0, blockCount, read.block())] = read;
            }
            MemorySegment[] memory = new MemorySegment[blockCount];
            @Nullable IOException[] faults = new IOException[blockCount];
            for (int i = 0; i < blockCount; i++) {
                faults[i] = taken[i].failure();
                memory[i] = faults[i] == null ? taken[i].memory() : MemorySegment.NULL;
            }
            copyRows(memory, faults);
            reads = null;
        } finally {
            for (BlockReads.Read read : taken) {
                if (read != null) {
                    ended.giveBack(read);
                }
            }
        }
    }

    /** Copies the rows that were read; rows with a faulty block fail. */
    private void copyRows(MemorySegment[] memory, @Nullable IOException[] faults) {
        for (int i = 0; i < blockCount; i++) {
            if (faults[i] == null) {
                faults[i] = file.fault(blocks[i], memory[i]);
            }
        }
        for (int i = done; i < end; i++) {
            int row = cold[i];
            int first = Arrays.binarySearch(blocks, 0, blockCount, file.firstBlock(payloads[row]));
            long before = copied;
            try {
                require(faults, first, first);
                bytes[row] = file.bytes(payloads[row], memory[first]);
                require(faults, first, first + file.blocks(payloads[row], bytes[row]) - 1);
                at[row] = add(bytes[row]);
                file.copy(payloads[row], memory, first, bytes[row], copies, at[row]);
            } catch (IOException e) {
                copied = before;
                fail(row, e);
            }
        }
        done = end;
    }

    private static void require(@Nullable IOException[] faults, int first, int last) throws IOException {
        for (int i = first; i <= last; i++) {
            IOException fault = faults[i];
            if (fault != null) {
                throw fault;
            }
        }
    }

    private void fail(int row, IOException cause) {
        if (failures == null) {
            failures = new RowBatch.ColdReadException[at.length];
        }
        failures[row] = new RowBatch.ColdReadException(keys[row], file.version(), cause);
        at[row] = -1;
    }

    /** Reads the remaining cold rows with blocking calls, one per run of adjacent blocks. */
    void readBlocking() {
        while (hasMore()) {
            choose();
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment room = arena.allocate((long) blockCount * BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
                MemorySegment[] memory = new MemorySegment[blockCount];
                for (int i = 0; i < blockCount; i++) {
                    memory[i] = room.asSlice((long) i * BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
                }
                @Nullable IOException[] faults = new IOException[blockCount];
                for (int from = 0; from < blockCount; ) {
                    int to = from + 1;
                    while (to < blockCount
                            && blocks[to] == blocks[to - 1] + 1
                            && file.isSpilled(blocks[to]) == file.isSpilled(blocks[from])) {
                        to++;
                    }
                    read(from, to, room, faults);
                    from = to;
                }
                values.read(blockCount);
                copyRows(memory, faults);
            }
        }
    }

    private void read(int from, int to, MemorySegment room, @Nullable IOException[] faults) {
        try {
            long begin = (long) from * BlockIo.BLOCK_BYTES;
            file.file(blocks[from]).read(blocks[from], room.asSlice(begin, (long) (to - from) * BlockIo.BLOCK_BYTES));
        } catch (IOException e) {
            if (to == from + 1) {
                faults[from] = e;
                return;
            }
            // Read each block separately to find out which of them fail.
            for (int i = from; i < to; i++) {
                read(i, i + 1, room, faults);
            }
        } catch (IllegalStateException e) {
            throw gone(e);
        }
    }

    /**
     * Fills the batch when all rows have arrived, and promotes some of the cold rows.
     *
     * @return the number of rows present
     */
    int finish() {
        int found = rows.fill(projection, file.version(), copies, at, bytes);
        rows.failed(failures);
        for (int row : cold) {
            if (at[row] >= 0) {
                values.touched(keys[row], payloads[row], copies, at[row], bytes[row]);
            }
        }
        return found;
    }

    /** Abandons the fetch; reads in flight free their buffers as they end. */
    @Override
    public void close() {
        if (reads != null) {
            reads.close();
        }
    }
}
