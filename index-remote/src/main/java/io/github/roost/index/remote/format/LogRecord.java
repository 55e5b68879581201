package io.github.roost.index.remote.format;

import static io.github.roost.index.remote.format.Bytes.FLOAT;
import static io.github.roost.index.remote.format.Bytes.INT;
import static io.github.roost.index.remote.format.Bytes.LONG;

import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.vector.file.Checksum;
import java.lang.foreign.MemorySegment;

/**
 * A change of a partition. Records have one size, so the log that grows downwards is read like the other one. Each record has its own log and
 * slot, the slot of its predecessor and a checksum, so that slots left by a lost writer between two records are skipped. Immutable.
 *
 * @param place of the record
 * @param kind of the change
 * @param token fencing token of the writer, which rises with every change of the pool: of two rows of one id the later has the larger token
 * @param id of the row
 * @param vector of the row; empty for {@link Kind#REMOVE}
 * @param moved the row's new place, in a {@link Kind#REMOVE}
 */
public record LogRecord(Place place, Kind kind, long token, long id, float[] vector, Moved moved) {
    private static final int CACHE_LINE = 64;
    private static final int FIXED_BYTES = 48;
    private static final int NONE = -1;

    /** The kind of a change. */
    public enum Kind {
        // Keep the order: pools store ordinals.

        /** Inserts a row whose id is new in the partition. */
        INSERT,
        /** Replaces a row of the partition. */
        REPLACE,
        /** Removes a row. */
        REMOVE
    }

    /**
     * The place of a record.
     *
     * @param partition of the log
     * @param generation of the partition
     * @param slot of the log
     * @param before slot of the preceding record, or -1
     * @param sequence number of preceding records
     */
    public record Place(int partition, int generation, int slot, int before, int sequence) {
        /** The place of a log's next record, in a slot allocated for it. */
        public static Place after(int partition, int generation, int slot, int tail, int records) {
            return new Place(partition, generation, slot, tail - 1, records);
        }
    }

    /**
     * The new place of a moved row. A search that sees the record, but has not read that partition's log up to {@code tail}, has not seen the
     * row.
     *
     * @param partition that had the row in its log when this record was written
     * @param generation of that partition at that time
     * @param tail number of slots of its log at that time, including the row's; 0 if the row has not moved
     */
    public record Moved(int partition, int generation, int tail) {
        public static final Moved NOWHERE = new Moved(0, 0, 0);
    }

    /** Size of a record in bytes. */
    public static int bytes(int dimension) {
        return (int) Bytes.aligned(FIXED_BYTES + (long) dimension * Float.BYTES, CACHE_LINE);
    }

    /** Writes a record; {@code into} has exactly its size. */
    public void write(MemorySegment into) {
        into.fill((byte) 0);
        into.set(INT, 4, kind.ordinal());
        into.set(INT, 8, place.partition());
        into.set(INT, 12, place.generation());
        into.set(INT, 16, place.slot());
        into.set(INT, 20, place.before());
        into.set(INT, 24, place.sequence());
        into.set(LONG, 32, token);
        into.set(LONG, 40, id);
        if (kind == Kind.REMOVE) {
            // In place of the vector. A record is at least a cache line.
            into.set(INT, FIXED_BYTES, moved.partition());
            into.set(INT, FIXED_BYTES + 4, moved.generation());
            into.set(INT, FIXED_BYTES + 8, moved.tail());
        } else {
            MemorySegment.copy(vector, 0, into, FLOAT, FIXED_BYTES, vector.length);
        }
        into.set(INT, 0, checksum(into));
    }

    private static int checksum(MemorySegment record) {
        return Checksum.of(record.asSlice(Integer.BYTES));
    }

    /** Reads a record and checks that it is complete and belongs to this slot. */
    public static LogRecord read(String region, Directory.Key key, int slot, int dimension, MemorySegment from)
            throws RemoteMemoryException.DamagedPartitionException {
        Place place =
                new Place(from.get(INT, 8), from.get(INT, 12), from.get(INT, 16), from.get(INT, 20), from.get(INT, 24));
        int kind = from.get(INT, 4);
        boolean isThere = from.get(INT, 0) == checksum(from)
                && place.partition() == key.partition()
                && place.generation() == key.generation()
                && place.slot() == slot
                && place.before() >= NONE
                && place.before() < slot
                && kind >= 0
                && kind < Kind.values().length;
        if (!isThere) {
            throw new RemoteMemoryException.DamagedPartitionException(
                    region, key.partition(), "slot " + slot + " of its log holds no whole record of it");
        }
        boolean removes = kind == Kind.REMOVE.ordinal();
        float[] vector = new float[removes ? 0 : dimension];
        MemorySegment.copy(from, FLOAT, FIXED_BYTES, vector, 0, vector.length);
        for (float component : vector) {
            if (!Float.isFinite(component)) {
                throw new RemoteMemoryException.DamagedPartitionException(
                        region, key.partition(), "slot " + slot + " of its log holds a vector that is not finite");
            }
        }
        Moved moved = removes
                ? new Moved(from.get(INT, FIXED_BYTES), from.get(INT, FIXED_BYTES + 4), from.get(INT, FIXED_BYTES + 8))
                : Moved.NOWHERE;
        return new LogRecord(place, Kind.values()[kind], from.get(LONG, 32), from.get(LONG, 40), vector, moved);
    }
}
