package io.github.roost.index.remote;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;

/** A provider that delegates to another one and counts the transfers. Thread-safe. */
final class CountingMemory extends DelegatingMemory {
    private final LongAdder doorbells = new LongAdder();
    private final LongAdder pieces = new LongAdder();
    private final LongAdder bytes = new LongAdder();

    CountingMemory(RemoteMemory memory) {
        super(memory);
    }

    /**
     * Totals of transfers.
     *
     * @param doorbells requests to the card
     * @param pieces pieces of these requests, atomic operations included
     * @param bytes in both directions
     */
    record Totals(long doorbells, long pieces, long bytes) {}

    Totals totals() {
        return new Totals(doorbells.sum(), pieces.sum(), bytes.sum());
    }

    @Override
    RemoteMemory.Region changed(RemoteMemory.Region region) {
        return new Counted(region);
    }

    private void count(int piecesNow, long bytesNow) {
        doorbells.increment();
        pieces.add(piecesNow);
        bytes.add(bytesNow);
    }

    private void count(List<RemoteMemory.Region.Transfer> transfers) {
        count(
                transfers.size(),
                transfers.stream()
                        .mapToLong(transfer -> transfer.local().byteSize())
                        .sum());
    }

    private final class Counted extends Delegating {
        Counted(RemoteMemory.Region region) {
            super(region);
        }

        @Override
        public CompletableFuture<Void> get(List<Transfer> transfers) {
            count(transfers);
            return region.get(transfers);
        }

        @Override
        public CompletableFuture<Void> put(List<Transfer> transfers) {
            count(transfers);
            return region.put(transfers);
        }

        @Override
        public CompletableFuture<Long> compareAndSet(long offset, long expected, long next) {
            count(1, Long.BYTES);
            return region.compareAndSet(offset, expected, next);
        }
    }
}
