package io.github.roost.index.remote.update;

import static io.github.roost.index.remote.format.Bytes.LONG;

import io.github.roost.index.hnsw.graph.Graph;
import io.github.roost.index.remote.RemoteMemory;
import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.index.remote.format.Bytes;
import io.github.roost.index.remote.format.Directory;
import io.github.roost.index.remote.format.EpochRoot;
import io.github.roost.index.remote.format.ImageHeader;
import io.github.roost.index.remote.format.LogRecord;
import io.github.roost.index.remote.format.LogSlots;
import io.github.roost.index.remote.format.LogTails;
import io.github.roost.index.remote.format.PoolHead;
import io.github.roost.index.remote.format.SpaceReservation;
import io.github.roost.index.remote.pool.OpenPool;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Publishes rebuilt pairs in a pool, with the lease. Used by one thread at a time. */
final class PairPublication {
    private static final int PIECE = 1 << 20;

    private final OpenPool pool;
    private final WriterLease lease;
    private final PoolReading reading;
    private final ReaderHolds holds;

    PairPublication(OpenPool pool, WriterLease lease, PoolReading reading) {
        this.pool = pool;
        this.lease = lease;
        this.reading = reading;
        this.holds = new ReaderHolds(pool.head().leaseMillis() * 1_000_000L);
    }

    /**
     * A rebuilt pair.
     *
     * @param pair its number
     * @param upTo tails of the logs whose records it contains
     * @param even graph of the even partition, or null without rows
     * @param odd graph of the odd partition, or null without rows
     */
    record Built(
            int pair,
            LogTails upTo,
            @Nullable Graph even,
            @Nullable Graph odd) {}

    /** The outcome of a publication. */
    sealed interface Published {
        /** The pair was published. */
        record Done() implements Published {}

        /** Another writer has rebuilt the pair meanwhile. */
        record ByOthers() implements Published {}

        /**
         * There is no room for the pair now.
         *
         * @param bytes size of the pair and a directory
         * @param free size of the largest free space
         * @param held bytes held by readers of older epochs
         */
        record NoSpace(long bytes, long free, long held) implements Published {}

        /** The pool takes no more rebuilds. Nothing was written, so the lease is given back and other changes go on. */
        record Refused(String why) implements Published {}
    }

    /**
     * Writes a rebuilt pair, together with the changes made meanwhile, into free space, and begins the next epoch by one compare-and-set of the
     * root. The space is named in the head before any byte of it is written: a writer that is lost meanwhile may still write to it, so the next
     * writer marks it as never to be used again.
     */
    Published publish(KnownPool now, Built built) throws RemoteMemoryException {
        Directory before = now.directory;
        LogTails tails = now.tails[built.pair()];
        if (tails.generation() != built.upTo().generation()) {
            return new Published.ByOthers();
        }
        NewPair next = new NewPair(built, now);
        long oldest = oldestHeld();
        List<SpaceReservation> lost = lost();
        long bytes = next.blockBytes() + pool.head().directoryBytes();
        FreeSpace space = new FreeSpace(before, oldest, lost, pool.head().bytes());
        FreeSpace.Found found = space.find(bytes);
        if (found == null
                || found.free().size() + 2
                        > Directory.maxFree(before.partitions().size())) {
            return new Published.NoSpace(bytes, space.largest(), space.held());
        }
        SpaceReservation filling = new SpaceReservation(found.at(), bytes);
        long root = pool.word(PoolHead.ROOT_AT);
        long words = pool.settled(PoolHead.tailsAt(built.pair(), next.generation()));
        long slots = pool.settled(PoolHead.slotsAt(built.pair(), next.generation()));
        boolean abandoned = LogSlots.of(pool.word(PoolHead.slotsAt(built.pair(), tails.generation())))
                .abandoned();
        // Not 0 if a writer was fenced off before it wrote to its space.
        long left = pool.settled(PoolHead.RESERVATION_AT);
        if (left != 0 && lost.size() == PoolHead.MAX_LOST) {
            return new Published.Refused("has lost space to writers in " + PoolHead.MAX_LOST
                    + " places, so it takes no more rebuilds: save a table of it to another file, and serve that");
        }
        // Renewed only now: it proves that the words were read before any other writer could take over.
        lease.renew();
        replaceOnce(PoolHead.RESERVATION_AT, left, filling.word());
        // A writer that takes over after this finds the space named. If one has taken over before, this throws and
        // nothing is written to the space.
        lease.renew();
        next.writeTo(found.at());
        Directory after = next.directory(found, EpochRoot.of(root), abandoned);
        MemorySegment directory = Arena.ofAuto().allocate(pool.head().directoryBytes(), 8);
        after.write(directory);
        long directoryAt = found.at() + next.blockBytes();
        put(directoryAt, directory);
        replaceOnce(
                PoolHead.tailsAt(built.pair(), next.generation()),
                words,
                next.tails().word());
        replaceOnce(
                PoolHead.slotsAt(built.pair(), next.generation()),
                slots,
                LogSlots.of(next.tails()).word());
        replaceOnce(PoolHead.ROOT_AT, root, EpochRoot.of(root).next(directoryAt).word());
        now.leftOver.removeIf(row -> row.partition() / 2 == built.pair());
        replaceOnce(PoolHead.RESERVATION_AT, filling.word(), 0);
        now.directory = after;
        now.tails[built.pair()] = next.tails();
        now.records[2 * built.pair()] = next.tails().even();
        if (2 * built.pair() + 1 < now.records.length) {
            now.records[2 * built.pair() + 1] = next.tails().odd();
        }
        return new Published.Done();
    }

    private void replaceOnce(long at, long expected, long next) throws RemoteMemoryException {
        if (pool.compareAndSet(at, expected, next) != expected) {
            throw lease.fenced();
        }
    }

    /** Returns the oldest epoch held by a live reader; ends the holds of dead readers. */
    private long oldestHeld() throws RemoteMemoryException {
        MemorySegment memory = Arena.ofAuto().allocate(PoolHead.READERS * (long) PoolHead.READER_BYTES, 8);
        long requestedNanos = System.nanoTime();
        pool.await(pool.region().get(List.of(new RemoteMemory.Region.Transfer(PoolHead.READERS_AT, memory))));
        ReaderHolds.Look look = holds.look(memory.toArray(LONG), requestedNanos, System.nanoTime());
        for (ReaderHolds.Dead dead : look.dead()) {
            pool.compareAndSet(PoolHead.READERS_AT + (long) dead.slot() * PoolHead.READER_BYTES, dead.owner(), 0);
        }
        return look.oldest();
    }

    private List<SpaceReservation> lost() throws RemoteMemoryException {
        MemorySegment words = Arena.ofAuto().allocate(PoolHead.MAX_LOST * (long) Long.BYTES, 8);
        pool.await(pool.region().get(List.of(new RemoteMemory.Region.Transfer(PoolHead.LOST_AT, words))));
        return LongStream.of(words.toArray(LONG))
                .filter(word -> word != 0)
                .mapToObj(SpaceReservation::of)
                .toList();
    }

    private void put(long at, MemorySegment bytes) throws RemoteMemoryException {
        for (long from = 0; from < bytes.byteSize(); from += PIECE) {
            MemorySegment piece = bytes.asSlice(from, Math.min(PIECE, bytes.byteSize() - from));
            pool.await(pool.region().put(List.of(new RemoteMemory.Region.Transfer(at + from, piece))));
            // Limits the writes of a writer that was stopped here and considered lost to one piece.
            lease.renew();
        }
    }

    /** The layout of a rebuilt pair with the records added since. */
    private final class NewPair {
        private final Built built;
        private final Directory before;
        private final LogTails old;
        private final int generation;
        private final long evenBytes;
        private final long oddBytes;
        private final long gapBytes;
        private final List<LogRecord> even;
        private final List<LogRecord> odd;

        NewPair(Built built, KnownPool now) throws RemoteMemoryException {
            this.built = built;
            this.before = now.directory;
            this.old = now.tails[built.pair()];
            this.generation = (old.generation() + 1) & 0xffff;
            this.even = since(2 * built.pair(), now);
            this.odd = hasOdd() ? since(2 * built.pair() + 1, now) : List.of();
            this.evenBytes = ImageHeader.imageBytes(built.even());
            this.oddBytes = hasOdd() ? ImageHeader.imageBytes(built.odd()) : 0;
            int recordBytes = pool.head().recordBytes();
            this.gapBytes = Math.max(
                    Directory.Gap.bytes(evenBytes + oddBytes, pool.head().gapShare(), recordBytes),
                    // At least half of it is free.
                    Math.min(0xffff, 2L * (even.size() + odd.size())) * recordBytes);
        }

        /** The records added since the graph was built, and the removals of {@link KnownPool#leftOver}. */
        private List<LogRecord> since(int partition, KnownPool now) throws RemoteMemoryException {
            int from = built.upTo().of(partition);
            int to = old.of(partition);
            List<LogRecord> records =
                    new ArrayList<>(to > from ? reading.records(before, partition, from, to) : List.of());
            for (LogChange row : now.leftOver) {
                if (row.partition() == partition) {
                    records.add(new LogRecord(
                            LogRecord.Place.after(partition, generation, 0, 0, 0),
                            row.kind(),
                            lease.token(),
                            row.id(),
                            row.vector(),
                            row.moved(now, built.pair(), old)));
                }
            }
            return records;
        }

        private boolean hasOdd() {
            return 2 * built.pair() + 1 < before.partitions().size();
        }

        int generation() {
            return generation;
        }

        long blockBytes() {
            return Bytes.aligned(evenBytes + gapBytes + oddBytes, EpochRoot.PAGE);
        }

        LogTails tails() {
            return new LogTails(old.fence(), generation, even.size(), odd.size());
        }

        void writeTo(long at) throws RemoteMemoryException {
            writeImage(at, 2 * built.pair(), built.even());
            long gapAt = at + evenBytes;
            if (hasOdd()) {
                writeImage(gapAt + gapBytes, 2 * built.pair() + 1, built.odd());
            }
            int recordBytes = pool.head().recordBytes();
            MemorySegment evenLog = Arena.ofAuto().allocate(Math.max(8, even.size() * (long) recordBytes), 64);
            MemorySegment oddLog = Arena.ofAuto().allocate(Math.max(8, odd.size() * (long) recordBytes), 64);
            for (int slot = 0; slot < even.size(); slot++) {
                moved(even.get(slot), slot).write(evenLog.asSlice((long) slot * recordBytes, recordBytes));
            }
            for (int slot = 0; slot < odd.size(); slot++) {
                moved(odd.get(slot), slot).write(oddLog.asSlice((odd.size() - 1L - slot) * recordBytes, recordBytes));
            }
            put(gapAt, evenLog.asSlice(0, even.size() * (long) recordBytes));
            put(gapAt + gapBytes - odd.size() * (long) recordBytes, oddLog.asSlice(0, odd.size() * (long) recordBytes));
        }

        private LogRecord moved(LogRecord record, int slot) {
            return new LogRecord(
                    new LogRecord.Place(record.place().partition(), generation, slot, slot - 1, slot),
                    record.kind(),
                    record.token(),
                    record.id(),
                    record.vector(),
                    record.moved());
        }

        private void writeImage(long at, int partition, @Nullable Graph graph) throws RemoteMemoryException {
            MemorySegment header = ImageHeader.of(partition, generation, graph, Arena.ofAuto());
            put(at, header);
            if (graph != null) {
                put(at + header.byteSize(), graph.memory());
            }
        }

        /** @param abandoned whether a lost writer may still write to the present block, which is never reused then */
        Directory directory(FreeSpace.Found found, EpochRoot root, boolean abandoned) {
            List<Directory.Place> places = new ArrayList<>(before.partitions());
            List<Directory.Gap> gaps = new ArrayList<>(before.gaps());
            int first = 2 * built.pair();
            places.set(first, new Directory.Place(found.at(), evenBytes, ImageHeader.rowsOf(built.even()), generation));
            if (hasOdd()) {
                places.set(
                        first + 1,
                        new Directory.Place(
                                found.at() + evenBytes + gapBytes,
                                oddBytes,
                                ImageHeader.rowsOf(built.odd()),
                                generation));
            }
            Directory.Gap gap = gaps.get(built.pair());
            gaps.set(
                    built.pair(),
                    new Directory.Gap(found.at() + evenBytes, gapBytes, found.at(), evenBytes + gapBytes + oddBytes));
            List<Directory.Space> free = new ArrayList<>(found.free());
            if (!abandoned) {
                free.add(new Directory.Space(
                        gap.blockAt(), Bytes.aligned(gap.blockBytes(), EpochRoot.PAGE), before.epoch()));
            }
            if (root.directoryAt() > pool.head().metaAt()) {
                free.add(new Directory.Space(root.directoryAt(), pool.head().directoryBytes(), before.epoch()));
            }
            return new Directory(before.epoch() + 1, places, gaps, free, found.end());
        }
    }
}
