package io.github.roost.bench.remote;

import io.github.roost.index.remote.RemoteMemory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Reads a pool through its provider, one read after the other. Stateless. */
final class OneSidedFetch {
    private OneSidedFetch() {}

    static double gigabytesPerSecond(PoolAccess pool, int bytes, int pieces) throws IOException {
        try (RemoteMemory.Region region = pool.memory().open(pool.region());
                Arena arena = Arena.ofConfined()) {
            MemorySegment into = arena.allocate(bytes, 64);
            region.get(List.of(new RemoteMemory.Region.Transfer(0, into))).join();
            long began = System.nanoTime();
            for (int piece = 0; piece < pieces; piece++) {
                region.get(List.of(new RemoteMemory.Region.Transfer(piece * (long) bytes, into)))
                        .join();
            }
            return pieces * (double) bytes / (System.nanoTime() - began);
        }
    }
}
