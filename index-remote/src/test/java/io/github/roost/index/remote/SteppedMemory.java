package io.github.roost.index.remote;

import io.github.roost.index.remote.format.PoolHead;
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
public final class SteppedMemory extends DelegatingMemory {
    private volatile int step;
    private volatile IntConsumer before = number -> {};
    private volatile LongConsumer beforeSwap = offset -> {};
    private volatile Function<List<RemoteMemory.Region.Transfer>, CompletableFuture<?>> gate =
            transfers -> CompletableFuture.completedFuture(null);

    public SteppedMemory(RemoteMemory memory) {
        super(memory);
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
    RemoteMemory.Region changed(RemoteMemory.Region region) {
        return new Stepped(region);
    }

    private final class Stepped extends Delegating {
        Stepped(RemoteMemory.Region region) {
            super(region);
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
    }
}
