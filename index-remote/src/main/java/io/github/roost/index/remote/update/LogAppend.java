package io.github.roost.index.remote.update;

import io.github.roost.index.remote.RemoteMemory;
import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.index.remote.format.Directory;
import io.github.roost.index.remote.format.LogRecord;
import io.github.roost.index.remote.format.LogSlots;
import io.github.roost.index.remote.format.LogTails;
import io.github.roost.index.remote.format.PoolHead;
import io.github.roost.index.remote.pool.OpenPool;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntConsumer;

/** Appends records to logs, with the lease: steps 2 to 4 of {@link PoolWriter}. Used by one thread at a time. */
final class LogAppend {
    /** Slots that insertions leave free in each gap, so that rows which a lost writer has stored twice can be removed. */
    private static final int SLOTS_FOR_REMOVALS = 4;

    private static final double NEARLY_FULL = .75;

    private final OpenPool pool;
    private final WriterLease lease;
    private final IntConsumer nearlyFull;

    LogAppend(OpenPool pool, WriterLease lease, IntConsumer nearlyFull) {
        this.pool = pool;
        this.lease = lease;
        this.nearlyFull = nearlyFull;
    }

    /** Writes records, first the ones of the first record's pair. Checks the free slots of all pairs before it allocates any. */
    void write(KnownPool now, List<LogChange> changes) throws RemoteMemoryException {
        Map<Integer, List<LogChange>> byPair = new TreeMap<>();
        for (LogChange change : changes) {
            byPair.computeIfAbsent(change.partition() / 2, pair -> new ArrayList<>())
                    .add(change);
        }
        Map<Integer, Long> slots = new HashMap<>();
        for (Map.Entry<Integer, List<LogChange>> ofPair : byPair.entrySet()) {
            slots.put(ofPair.getKey(), requireSlots(now, ofPair.getValue()));
        }
        if (!changes.isEmpty()) {
            int first = changes.getFirst().partition() / 2;
            append(now, byPair.getOrDefault(first, List.of()), slots.getOrDefault(first, 0L));
            byPair.remove(first);
        }
        for (Map.Entry<Integer, List<LogChange>> ofPair : byPair.entrySet()) {
            try {
                append(now, ofPair.getValue(), slots.getOrDefault(ofPair.getKey(), 0L));
            } catch (PartitionLogFullException late) {
                throw new RemoteMemoryException(
                        pool.region().name(), "has taken half of a change, which the next writer ends", late);
            }
        }
    }

    /** Returns the pair's {@link LogSlots} word; throws if too few slots are free. */
    private long requireSlots(KnownPool now, List<LogChange> changes) throws RemoteMemoryException {
        int partition = changes.getFirst().partition();
        int slots = pool.slots(partition, now.directory);
        long word = pool.word(slotsAt(now, partition));
        LogSlots taken = requireOwn(now, partition, word);
        boolean inserts = changes.stream().anyMatch(change -> change.kind() != LogRecord.Kind.REMOVE);
        if (taken.all() + changes.size() + (inserts ? SLOTS_FOR_REMOVALS : 0) > slots) {
            throw full(now, partition);
        }
        if (taken.all() > slots * NEARLY_FULL) {
            nearlyFull.accept(partition / 2);
        }
        return word;
    }

    /** The slots of a word, unless another writer has taken over or the pair is of another generation. */
    private LogSlots requireOwn(KnownPool now, int partition, long word)
            throws RemoteMemoryException.WriterFencedException {
        LogSlots slots = LogSlots.of(word);
        if (!slots.areOf(now.tails[partition / 2])) {
            throw lease.fenced();
        }
        return slots;
    }

    /** Reports that a pair must be rebuilt. */
    PartitionLogFullException full(KnownPool now, int partition) {
        nearlyFull.accept(partition / 2);
        return new PartitionLogFullException(pool.region().name(), partition, pool.slots(partition, now.directory));
    }

    private long slotsAt(KnownPool now, int partition) {
        return PoolHead.slotsAt(
                partition / 2, now.directory.partitions().get(partition).generation());
    }

    /** Appends records to the logs of one pair; readers see all of them at once. */
    private void append(KnownPool now, List<LogChange> changes, long slotsWord) throws RemoteMemoryException {
        int recordBytes = pool.head().recordBytes();
        int pair = changes.getFirst().partition() / 2;
        LogTails before = now.tails[pair];
        LogTails after = before;
        int[] slots = takeSlots(now, changes, slotsWord);
        MemorySegment memory = Arena.ofAuto().allocate((long) changes.size() * recordBytes, 64);
        List<RemoteMemory.Region.Transfer> transfers = new ArrayList<>(changes.size());
        int[] added = new int[2];
        for (int i = 0; i < slots.length; i++) {
            LogChange change = changes.get(i);
            int partition = change.partition();
            Directory.Gap gap = now.directory.gapOf(partition);
            MemorySegment record = memory.asSlice((long) i * recordBytes, recordBytes);
            new LogRecord(
                            LogRecord.Place.after(
                                    partition,
                                    before.generation(),
                                    slots[i],
                                    after.of(partition),
                                    now.records[partition] + added[partition % 2]++),
                            change.kind(),
                            lease.token(),
                            change.id(),
                            change.vector(),
                            change.moved(now, pair, after))
                    .write(record);
            after = after.with(partition, slots[i] + 1);
            transfers.add(new RemoteMemory.Region.Transfer(
                    partition % 2 == 0
                            ? gap.at() + (long) slots[i] * recordBytes
                            : gap.end() - (slots[i] + 1L) * recordBytes,
                    record));
        }
        pool.await(pool.region().put(transfers));
        long at = PoolHead.tailsAt(pair, before.generation());
        if (pool.compareAndSet(at, before.word(), after.word()) != before.word()) {
            throw lease.fenced();
        }
        now.tails[pair] = after;
        for (LogChange change : changes) {
            now.records[change.partition()]++;
        }
    }

    /**
     * Allocates one slot per change. A writer whose lease has ended can do so until it is fenced off; its slots stay unpublished.
     *
     * @param slotsWord the {@link LogSlots} word as last read
     */
    private int[] takeSlots(KnownPool now, List<LogChange> changes, long slotsWord) throws RemoteMemoryException {
        long at = slotsAt(now, changes.getFirst().partition());
        int max = pool.slots(changes.getFirst().partition(), now.directory);
        long expected = slotsWord;
        while (true) {
            LogSlots taken = requireOwn(now, changes.getFirst().partition(), expected);
            int[] slots = new int[changes.size()];
            for (int i = 0; i < slots.length; i++) {
                slots[i] = taken.of(changes.get(i).partition());
                taken = taken.next(changes.get(i).partition());
            }
            if (taken.all() > max) {
                throw full(now, changes.getFirst().partition());
            }
            long found = pool.compareAndSet(at, expected, taken.word());
            if (found == expected) {
                return slots;
            }
            expected = found;
        }
    }
}
