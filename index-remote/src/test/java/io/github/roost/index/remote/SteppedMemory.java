package io.github.roost.index.remote;

import io.github.roost.index.remote.format.PoolHead;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

/**
 * A provider that counts the writes of its writer, and has something happen before one of them: so writers die or are stopped there. Reads
 * may be held up too.
 */
public final class SteppedMemory implements RemoteMemory {
    private final RemoteMemory memory;
    private volatile int step;
    private volatile IntConsumer before = number -> {};
    private volatile LongConsumer beforeSwap = offset -> {};
    private volatile Function<List<RemoteMemory.Region.Transfer>, CompletableFuture<?>> gate =
            transfers -> CompletableFuture.completedFuture(null);

    public SteppedMemory(RemoteMemory memory) {
        this.memory = memory;
    }

    /** From now on writes are counted from 1, and this is told of each before it is done; what it throws fails the write. */
    public void beforeEach(IntConsumer action) {
        step = 0;
        before = action;
    }

    /** From now on this is told of the place of each compare-and-set before it is done. */
    public void beforeEachSwap(LongConsumer action) {
        beforeSwap = action;
    }

    /** From now on a read begins when what this gives is done. */
    public void beforeEachRead(Function<List<RemoteMemory.Region.Transfer>, CompletableFuture<?>> opened) {
        gate = opened;
    }

    /** Writes since {@link #beforeEach}. */
    int steps() {
        return step;
    }

    /** The writer dies before one of its writes: that and all that follow fail. */
    public void dieBefore(int number) {
        beforeEach(now -> {
            if (now >= number) {
                throw new IllegalStateException("this writer is dead");
            }
        });
    }

    @Override
    public String name() {
        return memory.name();
    }

    @Override
    public Capabilities capabilities() {
        return memory.capabilities();
    }

    @Override
    public RemoteMemory.Region open(String region) throws IOException {
        return new Stepped(memory.open(region));
    }

    @Override
    public void close() {
        memory.close();
    }

    private final class Stepped implements RemoteMemory.Region {
        private final RemoteMemory.Region region;

        Stepped(RemoteMemory.Region region) {
            this.region = region;
        }

        private <T> CompletableFuture<T> step(Supplier<CompletableFuture<T>> write) {
            int now;
            synchronized (SteppedMemory.this) {
                now = ++step;
            }
            try {
                before.accept(now);
            } catch (IllegalStateException dead) {
                return CompletableFuture.failedFuture(dead);
            }
            return write.get();
        }

        @Override
        public String name() {
            return region.name();
        }

        @Override
        public long bytes() {
            return region.bytes();
        }

        @Override
        public boolean isWritable() {
            return region.isWritable();
        }

        @Override
        public CompletableFuture<Void> get(List<Transfer> transfers) {
            CompletableFuture<?> opened = gate.apply(transfers);
            return opened.thenCompose(now -> region.get(transfers));
        }

        @Override
        public CompletableFuture<Void> put(List<Transfer> transfers) {
            return step(() -> region.put(transfers));
        }

        @Override
        public CompletableFuture<Long> compareAndSet(long offset, long expected, long next) {
            beforeSwap.accept(offset);
            // Holds of readers are renewed by a thread of their own.
            return offset >= PoolHead.READERS_AT && offset < PoolHead.PAIRS_AT
                    ? region.compareAndSet(offset, expected, next)
                    : step(() -> region.compareAndSet(offset, expected, next));
        }

        @Override
        public void close() {
            region.close();
        }
    }
}
