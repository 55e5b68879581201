package io.github.roost.index.remote;

import static io.github.roost.index.remote.Bytes.LONG;

import io.github.roost.core.file.WholeFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Copies a pool while it is searched and changed: first the words of one moment, then the blocks that they name, which do not change while their
 * epoch is held. The copy has no node, readers or writers.
 */
final class PoolCopy {
    private static final int PIECE = 1 << 20;
    private static final int MAX_TRIES = 10_000;

    private final OpenPool pool;
    private final @Nullable PoolWriter writer;

    /** @param writer the pool's writer, or null if this process may only read the pool */
    PoolCopy(OpenPool pool, @Nullable PoolWriter writer) {
        this.pool = pool;
        this.writer = writer;
    }

    void write(FileChannel channel) throws IOException {
        Directory held = pool.enter();
        try {
            MemorySegment words = writer != null ? writer.wordsAtRest() : wordsAtRest();
            forCopy(words);
            WholeFile.writeAll(channel, words.asByteBuffer());
            MemorySegment piece = Arena.ofAuto().allocate(PIECE, 64);
            long bytes = pool.head().bytes();
            for (long at = words.byteSize(); at < bytes; at += PIECE) {
                MemorySegment part = piece.asSlice(0, Math.min(PIECE, bytes - at));
                pool.await(pool.region().get(List.of(new RemoteRegion.Transfer(at, part))));
                WholeFile.writeAll(channel, part.asByteBuffer());
            }
            if (writer == null
                    && pool.root().epoch()
                            != Root.of(words.get(LONG, PoolHead.ROOT_AT)).epoch()) {
                // A read-only process holds no epoch: space may have been reused.
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
            pool.await(pool.region().get(List.of(new RemoteRegion.Transfer(0, words))));
            if ((before & 1) == 0 && pool.word(PoolHead.LEASE_AT) == before) {
                return words;
            }
        }
        throw new RemoteMemoryException(pool.region().name(), "is being changed all the time: it cannot be copied");
    }

    private void forCopy(MemorySegment words) {
        for (int at : new int[] {PoolHead.TERM_AT, PoolHead.LEASE_AT, PoolHead.FILLING_AT}) {
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
                        new LogSlots(tails.generation(), tails.even(), tails.odd()).word());
            }
        }
    }
}
