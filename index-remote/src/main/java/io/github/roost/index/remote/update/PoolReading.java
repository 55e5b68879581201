package io.github.roost.index.remote.update;

import static io.github.roost.index.remote.format.Bytes.LONG;

import io.github.roost.index.remote.RemoteMemory;
import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.index.remote.format.Directory;
import io.github.roost.index.remote.format.LogRecord;
import io.github.roost.index.remote.format.LogTails;
import io.github.roost.index.remote.format.PoolHead;
import io.github.roost.index.remote.format.RowCount;
import io.github.roost.index.remote.pool.OpenPool;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Reads a pool for a writer that has the lease: all of it, or the changes that other writers have made. Used by one thread at a time. */
final class PoolReading {
    private final OpenPool pool;
    private final WriterLease lease;

    PoolReading(OpenPool pool, WriterLease lease) {
        this.pool = pool;
        this.lease = lease;
    }

    /** Reads the tails of all logs by one doorbell. */
    LogTails[] tails(Directory directory) throws RemoteMemoryException {
        int pairs = directory.gaps().size();
        MemorySegment words = Arena.ofAuto().allocate(pairs * (long) Long.BYTES, 8);
        List<RemoteMemory.Region.Transfer> transfers = new ArrayList<>(pairs);
        for (int pair = 0; pair < pairs; pair++) {
            transfers.add(new RemoteMemory.Region.Transfer(
                    PoolHead.tailsAt(pair, directory.partitions().get(2 * pair).generation()),
                    words.asSlice(pair * (long) Long.BYTES, Long.BYTES)));
        }
        pool.await(pool.region().get(transfers));
        LogTails[] tails = new LogTails[pairs];
        for (int pair = 0; pair < pairs; pair++) {
            tails[pair] = LogTails.of(words.get(LONG, pair * (long) Long.BYTES));
            int slots = pool.slots(2 * pair, directory);
            PoolHead.require(
                    pool.region().name(), "logs of pair " + pair, tails[pair].even() + tails[pair].odd(), 0, slots);
        }
        return tails;
    }

    /** Reads the whole pool into an empty {@link KnownPool}. A row that a lost writer has left in two pairs is recorded in both. */
    void all(KnownPool now, LogTails[] tails) throws RemoteMemoryException {
        MemorySegment buffer = WholePartition.roomFor(now.directory);
        for (int partition = 0; partition < now.records.length; partition++) {
            readWhole(now, partition, tails, buffer);
        }
        System.arraycopy(tails, 0, now.tails, 0, tails.length);
        now.rows = RowCount.of(pool.word(PoolHead.ROWS_AT));
    }

    private void readWhole(KnownPool now, int partition, LogTails[] tails, MemorySegment buffer)
            throws RemoteMemoryException {
        WholePartition whole =
                WholePartition.read(pool, now.directory, partition, tails[partition / 2].of(partition), buffer);
        whole.forEach((id, token) -> now.places.found(id, partition, token));
        now.records[partition] = whole.log().records();
        // A pool of many gigabytes takes longer than the lease's term.
        lease.renew();
    }

    /**
     * Applies the changes of other writers: rebuilt pairs are read whole; of other logs the new records are applied in the order of their tokens,
     * which are unique per change of the pool.
     */
    KnownPool others(KnownPool now, Directory directory, LogTails[] tails) throws RemoteMemoryException {
        now.directory = directory;
        List<LogRecord> others = new ArrayList<>();
        MemorySegment buffer = MemorySegment.NULL;
        for (int pair = 0; pair < tails.length; pair++) {
            int end = Math.min(2 * pair + 2, now.records.length);
            boolean isNew = tails[pair].generation() != now.tails[pair].generation();
            if (isNew) {
                now.places.forget(2 * pair, end);
                buffer = buffer.byteSize() == 0 ? WholePartition.roomFor(directory) : buffer;
            }
            for (int partition = 2 * pair; partition < end; partition++) {
                int from = now.tails[pair].of(partition);
                int to = tails[pair].of(partition);
                if (isNew) {
                    readWhole(now, partition, tails, buffer);
                } else if (to > from) {
                    List<LogRecord> added = records(directory, partition, from, to);
                    now.records[partition] += added.size();
                    others.addAll(added);
                }
            }
        }
        // A row that has moved from a pair read whole to another pair is in both until its record is applied.
        now.places.gathered();
        others.sort(Comparator.comparingLong(LogRecord::token).thenComparing(LogRecord::kind));
        for (LogRecord record : others) {
            int partition = record.place().partition();
            if (record.kind() == LogRecord.Kind.REMOVE) {
                now.places.remove(record.id(), partition);
            } else {
                now.places.set(record.id(), partition);
            }
        }
        System.arraycopy(tails, 0, now.tails, 0, tails.length);
        now.rows = RowCount.of(pool.word(PoolHead.ROWS_AT));
        return now;
    }

    /** Reads the records in a range of slots, oldest first. */
    List<LogRecord> records(Directory directory, int partition, int from, int to) throws RemoteMemoryException {
        int recordBytes = pool.head().recordBytes();
        Directory.Gap gap = directory.gapOf(partition);
        boolean isEven = partition % 2 == 0;
        long bytes = (long) (to - from) * recordBytes;
        MemorySegment memory = Arena.ofAuto().allocate(bytes, 64);
        long at = isEven ? gap.at() + (long) from * recordBytes : gap.end() - (long) to * recordBytes;
        pool.await(pool.region().get(List.of(new RemoteMemory.Region.Transfer(at, memory))));
        Directory.Key key = directory.key(partition);
        List<LogRecord> found = new ArrayList<>();
        for (int slot = to - 1; slot >= from; ) {
            long offset = (long) (isEven ? slot - from : to - 1 - slot) * recordBytes;
            LogRecord record = LogRecord.read(
                    pool.region().name(), key, slot, pool.head().dimension(), memory.asSlice(offset, recordBytes));
            found.addFirst(record);
            slot = record.place().before();
        }
        return found;
    }
}
