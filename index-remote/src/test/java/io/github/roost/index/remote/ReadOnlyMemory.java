package io.github.roost.index.remote;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Regions of another provider that may only be read. */
final class ReadOnlyMemory extends DelegatingMemory {
    ReadOnlyMemory(RemoteMemory memory) {
        super(memory);
    }

    @Override
    RemoteMemory.Region changed(RemoteMemory.Region region) {
        return new ReadOnly(region);
    }

    private static final class ReadOnly extends Delegating {
        ReadOnly(RemoteMemory.Region region) {
            super(region);
        }

        @Override
        public boolean isWritable() {
            return false;
        }

        @Override
        public CompletableFuture<Void> put(List<Transfer> transfers) {
            throw new AssertionError("nothing is written to what may only be read");
        }

        @Override
        public CompletableFuture<Long> compareAndSet(long offset, long expected, long next) {
            throw new AssertionError("nothing is written to what may only be read");
        }
    }
}
