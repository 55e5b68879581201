package io.github.roost.index.remote.update;

import static io.github.roost.index.remote.format.Bytes.LONG;

import io.github.roost.index.remote.RemoteMemory;
import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.index.remote.format.Directory;
import io.github.roost.index.remote.format.EpochRoot;
import io.github.roost.index.remote.format.LogSlots;
import io.github.roost.index.remote.format.LogTails;
import io.github.roost.index.remote.format.PoolHead;
import io.github.roost.index.remote.pool.OpenPool;
import io.github.roost.index.remote.pool.ReaderHold;
import io.github.roost.vector.file.WholeFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Copies a pool while it is searched and changed: first the words of one moment, then the blocks that they name, which do not change while their
 * epoch is held. Without a hold they may change once an epoch has begun: then copying fails. The copy has no node, readers or writers, and
 * is not mirrored.
 */
public final class PoolCopy {
    private static final int PIECE = 1 << 20;
    private static final int MAX_TRIES = 10_000;

    private final OpenPool pool;
    private final @Nullable PoolWriter writer;
    private final ReaderHold hold;

    /**
     * Makes a copier.
     *
     * @param writer the pool's writer, or null if this process may only read the pool
     * @param hold the table's hold, which may be absent
     */
    public PoolCopy(OpenPool pool, @Nullable PoolWriter writer, ReaderHold hold) {
        this.pool = pool;
        this.writer = writer;
        this.hold = hold;
    }

    public void write(FileChannel channel) throws IOException {
        Directory held = pool.enter();
        int enrolments = hold.enrolments();
        try {
            MemorySegment words = writer != null ? writer.wordsAtRest() : wordsAtRest();
            // Only then is the mark seen. Whoever changes both nodes looks for holds at the other one.
            boolean isOneOfTwo = words.get(LONG, PoolHead.MIRROR_AT) != 0;
            forCopy(words);
            WholeFile.writeAll(channel, words.asByteBuffer());
            MemorySegment piece = Arena.ofAuto().allocate(PIECE, 64);
            long bytes = pool.head().bytes();
            for (long at = words.byteSize(); at < bytes; at += PIECE) {
                MemorySegment part = piece.asSlice(0, Math.min(PIECE, bytes - at));
                pool.await(pool.region().get(List.of(new RemoteMemory.Region.Transfer(at, part))));
                WholeFile.writeAll(channel, part.asByteBuffer());
            }
            if (pool.root().epoch()
                            != EpochRoot.of(words.get(LONG, PoolHead.ROOT_AT)).epoch()
                    && (isOneOfTwo || !hold.hasLastedSince(enrolments))) {
                // Nobody knew that the epoch was in use: its space may have been reused.
                throw new RemoteMemoryException(pool.region().name(), "was rebuilt while it was copied");
            }
        } finally {
            pool.leave(held);
        }
    }

    /** Reads the words without the lease: retries until the lease was free and unchanged during the read. */
    private MemorySegment wordsAtRest() throws RemoteMemoryException {
        for (int i = 0; i < MAX_TRIES; i++) {
            long before = pool.word(PoolHead.LEASE_AT);
            MemorySegment words =
                    Arena.ofAuto().allocate(PoolHead.pairsEnd(pool.head().partitions()), 8);
            pool.await(pool.region().get(List.of(new RemoteMemory.Region.Transfer(0, words))));
            if ((before & 1) == 0 && pool.word(PoolHead.LEASE_AT) == before) {
                return words;
            }
        }
        throw new RemoteMemoryException(pool.region().name(), "is being changed all the time: it cannot be copied");
    }

    private void forCopy(MemorySegment words) {
        for (int at : new int[] {PoolHead.TERM_AT, PoolHead.LEASE_AT, PoolHead.RESERVATION_AT, PoolHead.MIRROR_AT}) {
            words.set(LONG, at, 0);
        }
        words.asSlice(PoolHead.LOST_AT, PoolHead.MAX_LOST * (long) Long.BYTES).fill((byte) 0);
        words.asSlice(PoolHead.READERS_AT, PoolHead.READERS * (long) PoolHead.READER_BYTES)
                .fill((byte) 0);
        for (int pair = 0; pair < pool.head().pairs(); pair++) {
            for (int generation = 0; generation < 2; generation++) {
                LogTails tails = LogTails.of(words.get(LONG, PoolHead.tailsAt(pair, generation)));
                // Slots that were allocated but not published are free in a copy.
                words.set(
                        LONG,
                        PoolHead.slotsAt(pair, generation),
                        LogSlots.of(tails).word());
            }
        }
    }
}
