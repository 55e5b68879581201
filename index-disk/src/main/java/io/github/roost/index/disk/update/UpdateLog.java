package io.github.roost.index.disk.update;

import static io.github.roost.index.disk.format.DiskLayout.FLOAT;
import static io.github.roost.index.disk.format.DiskLayout.INT;
import static io.github.roost.index.disk.format.DiskLayout.LONG;
import static io.github.roost.io.BlockIo.BLOCK_BYTES;

import io.github.roost.io.BlockFile;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.file.Checksum;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A file of the updates after one checkpoint, in groups; a group is written and synced, and then its updates are acknowledged.
 * A group begins at a block of its own, so no block with acknowledged updates is written again. Each block
 * has its log's table and generation, its group's start and length, and the checksum of the previous block; for the first block
 * that is the last block of the previous log. So a group counts as a whole or
 * not at all, and remains of an earlier group at the same place are not taken for its successor.
 *
 * <p>After a crash before its sync, the last group is cut off. If a block is damaged and a later group follows it,
 * the damaged one was acknowledged: then reading the log fails. Used by one thread at a time.
 */
final class UpdateLog {
    private static final int CHECKSUM = 0;
    private static final int INDEX = 4;
    private static final int TABLE_ID = 8;
    private static final int GENERATION = 16;
    private static final int GROUP_START = 24;
    private static final int GROUP_BLOCKS = 28;
    private static final int PREVIOUS = 32;
    private static final int USED = 36;
    private static final int HEADER = 40;
    private static final int PAYLOAD = BLOCK_BYTES - HEADER;

    private static final int BLOCKS_AT_ONCE = 64;

    private static final byte PUT = 1;
    private static final byte REMOVE = 2;

    private final BlockFile file;
    private final long tableId;
    private final long generation;
    private final int dimension;
    /** First block of the next group, and the checksum of the block before it. */
    private int next;

    private int previous;
    /** First block of the last group. */
    private int last;

    /**
     * A log at its beginning: the content of the file is obsolete, or read next by {@link #replay}.
     *
     * @param before {@link #end} of the previous log
     */
    UpdateLog(BlockFile file, long tableId, long generation, int dimension, int before) {
        this.file = file;
        this.tableId = tableId;
        this.generation = generation;
        this.dimension = dimension;
        this.previous = before;
    }

    /** The checksum of its last block, with which the next log records where this one ended; 0 for a log that was never begun. */
    int end() {
        return previous;
    }

    /** The number of the checkpoint that its updates came after. */
    long generation() {
        return generation;
    }

    /** Number of blocks of its groups. */
    int blocks() {
        return next;
    }

    BlockFile file() {
        return file;
    }

    /**
     * The header of the log in a file.
     *
     * @param generation of the log, or 0 for none
     * @param before {@link #end} of the previous log
     */
    record Begin(long generation, int before) {}

    /** Reads the header of a table's log. */
    static Begin begin(BlockFile file, long tableId) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment block = new Scan(file, arena).block(0, tableId);
            return block == null ? new Begin(0, 0) : new Begin(block.get(LONG, GENERATION), block.get(INT, PREVIOUS));
        }
    }

    /**
     * Fails if a file of a log's name is another file, which must not be overwritten. A log that was torn as it was begun has at most one
     * block, of zeros, or is shorter than one: what is behind its end is zero in a log, too. A later block tells of a log whose first one
     * is damaged, which {@link #requireNoRest} and {@link #replay} report.
     */
    static void requireLog(BlockFile file) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment block = arena.allocate(BLOCK_BYTES, BLOCK_BYTES);
            boolean isTorn = file.readFirst(block) <= BLOCK_BYTES && block.mismatch(arena.allocate(BLOCK_BYTES)) < 0;
            boolean isLog = isTorn || isBlock(block, 0);
            if (!isLog && file.blocks() > 1) {
                file.read(1, block);
                isLog = isBlock(block, 1);
            }
            if (!isLog) {
                throw new FileFormatException(
                        file.path(), 0, "is not a log of a table, which its name is for: move it to another name");
            }
        }
    }

    private static boolean isBlock(MemorySegment block, int index) {
        return block.get(INT, CHECKSUM) == checksum(block) && block.get(INT, INDEX) == index;
    }

    /** Fails if a file has lost the beginning of a log of this generation: later blocks are written only once that was synced. */
    static void requireNoRest(BlockFile file, long tableId, long generation) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            Scan scan = new Scan(file, arena);
            for (int index = 1; index < file.blocks(); index++) {
                MemorySegment block = scan.block(index, tableId);
                if (block != null && block.get(LONG, GENERATION) == generation) {
                    throw damaged(file, 0);
                }
            }
        }
    }

    /** Reads ascending blocks of a file, many at once. */
    private static final class Scan {
        private final BlockFile file;
        private final MemorySegment run;
        private int first;
        private int count;

        Scan(BlockFile file, Arena arena) {
            this.file = file;
            this.run = arena.allocate((long) BLOCKS_AT_ONCE * BLOCK_BYTES, BLOCK_BYTES);
        }

        /** A block, until the next call; null if it does not belong to a log of the table. */
        @Nullable
        MemorySegment block(int index, long tableId) throws IOException {
            if (index >= file.blocks()) {
                return null;
            }
            if (index < first || index >= first + count) {
                count = 0;
                int length = (int) Math.min(BLOCKS_AT_ONCE, file.blocks() - index);
                file.read(index, run.asSlice(0, (long) length * BLOCK_BYTES));
                first = index;
                count = length;
            }
            MemorySegment block = run.asSlice((long) (index - first) * BLOCK_BYTES, BLOCK_BYTES);
            return isBlock(block, index) && block.get(LONG, TABLE_ID) == tableId ? block : null;
        }
    }

    private static FileFormatException damaged(BlockFile file, int block) {
        return new FileFormatException(
                file.path(), (long) block * BLOCK_BYTES, "has a damaged block between acknowledged updates");
    }

    /** Writes a group after the last one and syncs it; an empty group marks the beginning of the log. */
    void append(List<Update> group) throws IOException {
        byte[] bytes = encode(group);
        int count = Math.max(1, Math.ceilDiv(bytes.length, PAYLOAD));
        int chain = previous;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment blocks = arena.allocate((long) count * BLOCK_BYTES, BLOCK_BYTES);
            for (int i = 0; i < count; i++) {
                MemorySegment block = blocks.asSlice((long) i * BLOCK_BYTES, BLOCK_BYTES);
                int used = Math.min(PAYLOAD, bytes.length - i * PAYLOAD);
                block.set(INT, INDEX, next + i);
                block.set(LONG, TABLE_ID, tableId);
                block.set(LONG, GENERATION, generation);
                block.set(INT, GROUP_START, next);
                block.set(INT, GROUP_BLOCKS, count);
                block.set(INT, PREVIOUS, chain);
                block.set(INT, USED, used);
                MemorySegment.copy(bytes, i * PAYLOAD, block, ValueLayout.JAVA_BYTE, HEADER, used);
                chain = checksum(block);
                block.set(INT, CHECKSUM, chain);
            }
            file.write(next, blocks);
            file.sync();
        }
        last = next;
        next += count;
        previous = chain;
    }

    /**
     * Makes what {@link #replay} has read durable. The last group may be in the system's cache alone: its process was killed before it had
     * synced it, or the sync failed, after which Linux writes it no more. The groups before it were synced before it was written.
     */
    void rewriteLast() throws IOException {
        if (next == 0) {
            return;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment group = arena.allocate((long) (next - last) * BLOCK_BYTES, BLOCK_BYTES);
            file.read(last, group);
            file.write(last, group);
            file.sync();
        }
    }

    /** Reads all complete groups from the beginning, and positions the log after them. */
    List<Update> replay() throws IOException {
        List<Update> all = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            Scan scan = new Scan(file, arena);
            byte[] group = group(scan);
            while (group != null) {
                decode(group, all);
                group = group(scan);
            }
            requireNoneBehind(scan);
        }
        return all;
    }

    /**
     * As {@link #replay}, for a log that has a successor and so must not end before the place that this records. Groups after that
     * place count too: this log went on if the beginning of its successor was written but not synced.
     *
     * @param last {@link #end} of this log as its successor recorded it
     */
    List<Update> replayAtLeastTo(int last) throws IOException {
        List<Update> all = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            Scan scan = new Scan(file, arena);
            boolean isReached = previous == last;
            byte[] group = group(scan);
            while (group != null) {
                decode(group, all);
                isReached |= previous == last;
                group = group(scan);
            }
            if (!isReached) {
                throw damaged(file, next);
            }
            requireNoneBehind(scan);
        }
        return all;
    }

    /** Reads the group at the next block and moves past it; null if there is no complete group. */
    private byte @Nullable [] group(Scan scan) throws IOException {
        int start = next;
        int count = 1;
        int chain = previous;
        byte[] bytes = new byte[0];
        for (int i = 0; i < count; i++) {
            MemorySegment block = read(scan, start + i);
            if (block == null
                    || block.get(INT, GROUP_START) != start
                    || (start + i > 0 && block.get(INT, PREVIOUS) != chain)
                    || (i > 0 && block.get(INT, GROUP_BLOCKS) != count)) {
                return null;
            }
            count = block.get(INT, GROUP_BLOCKS);
            if (count < 1 || count > file.blocks() - start) {
                return null;
            }
            int used = block.get(INT, USED);
            if (used < 0 || used > PAYLOAD) {
                return null;
            }
            int length = bytes.length;
            bytes = Arrays.copyOf(bytes, length + used);
            MemorySegment.copy(block, ValueLayout.JAVA_BYTE, HEADER, bytes, length, used);
            chain = block.get(INT, CHECKSUM);
        }
        last = start;
        next = start + count;
        previous = chain;
        return bytes;
    }

    private void requireNoneBehind(Scan scan) throws IOException {
        for (int index = next + 1; index < file.blocks(); index++) {
            MemorySegment block = read(scan, index);
            if (block != null && block.get(INT, GROUP_START) > next) {
                throw damaged(file, next);
            }
        }
    }

    /** Reads a block; null if it does not belong to this log. */
    private @Nullable MemorySegment read(Scan scan, int index) throws IOException {
        MemorySegment block = scan.block(index, tableId);
        return block != null && block.get(LONG, GENERATION) == generation ? block : null;
    }

    private static int checksum(MemorySegment block) {
        return Checksum.of(block.asSlice(INDEX, BLOCK_BYTES - INDEX));
    }

    private byte[] encode(List<Update> group) {
        long size = 0;
        for (Update update : group) {
            size += recordBytes(update.vector() != null);
        }
        byte[] bytes = new byte[Math.toIntExact(size)];
        MemorySegment into = MemorySegment.ofArray(bytes);
        long at = 0;
        for (Update update : group) {
            float[] vector = update.vector();
            into.set(ValueLayout.JAVA_BYTE, at, vector == null ? REMOVE : PUT);
            into.set(LONG, at + 1, update.id());
            if (vector != null) {
                MemorySegment.copy(vector, 0, into, FLOAT, at + 1 + Long.BYTES, dimension);
            }
            at += recordBytes(vector != null);
        }
        return bytes;
    }

    private int recordBytes(boolean isPut) {
        return 1 + Long.BYTES + (isPut ? dimension * Float.BYTES : 0);
    }

    private void decode(byte[] group, List<Update> into) throws IOException {
        MemorySegment from = MemorySegment.ofArray(group);
        for (long at = 0; at < group.length; ) {
            byte what = group[(int) at];
            boolean isPut = what == PUT;
            if (!(isPut || what == REMOVE) || at + recordBytes(isPut) > group.length) {
                throw new FileFormatException(
                        file.path(), (long) next * BLOCK_BYTES, "holds an update of no known kind");
            }
            long id = from.get(LONG, at + 1);
            if (isPut) {
                float[] vector = new float[dimension];
                MemorySegment.copy(from, FLOAT, at + 1 + Long.BYTES, vector, 0, dimension);
                for (float component : vector) {
                    if (!Float.isFinite(component)) {
                        throw new FileFormatException(
                                file.path(), (long) next * BLOCK_BYTES, "holds a vector that is not finite");
                    }
                }
                into.add(Update.put(id, vector));
            } else {
                into.add(Update.remove(id));
            }
            at += recordBytes(isPut);
        }
    }
}
