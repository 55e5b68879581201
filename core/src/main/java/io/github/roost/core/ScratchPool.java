package io.github.roost.core;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Objects that are costly to make and that one search needs at a time: buffers, marks, heaps. A search takes one and gives
 * it back when it is through, so searches inside each other have one each, and it does not matter how many threads search
 * or how long these live: a virtual thread per search finds what the last one gave back.
 *
 * <p>Lock-free: a place holds one object or none, and both ways are one atomic exchange. A thread begins to look at a place
 * of its own, so a worker mostly gets what it used last, and looks at all others before it has one made or drops one:
 * looking costs nanoseconds, making system calls. So as many are made as are in use at once, and a few more where one was
 * moved behind the back of who looked; once there is one for each place, none is made any more unless more are in use at
 * once than there are places. What is kept is kept for good. Thread-safe; what is taken belongs to who took it.
 *
 * @param <T> what is kept
 */
public final class ScratchPool<T> {
    /** A worker and another thread per processor, and one search inside each. */
    private static final int PLACES_PER_PROCESSOR = 4;
    /** Places in use lie this many references apart: on different cache lines. */
    private static final int APART = 16;
    /** Spreads thread ids, which follow each other, over the places: 2^64 divided by the golden ratio. */
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    private final Supplier<? extends T> maker;
    private final int places;
    private final AtomicReferenceArray<@Nullable T> kept;

    /**
     * A pool with places for what this machine's processors can use at once.
     *
     * @param maker makes one more; called by any thread that takes
     */
    public ScratchPool(Supplier<? extends T> maker) {
        this(PLACES_PER_PROCESSOR * Runtime.getRuntime().availableProcessors(), maker);
    }

    /**
     * A pool with a number of places.
     *
     * @param places how many objects are kept at most while nobody uses them, from 1 to 65,536
     * @param maker makes one more; called by any thread that takes
     */
    public ScratchPool(int places, Supplier<? extends T> maker) {
        Vectors.requireRange("places", places, 1, 1 << 16);
        if (maker == null) {
            throw new NullPointerException("maker must not be null");
        }
        this.maker = maker;
        this.places = places;
        this.kept = new AtomicReferenceArray<>((places + 1) * APART);
    }

    /**
     * Takes an object that nobody uses, or has one made. To be given back in a {@code finally} block.
     *
     * @return an object that is the caller's until it is given back, in the state in which it was given back last
     */
    public T take() {
        int first = first();
        for (int i = 0; i < places; i++) {
            int at = at(first + i);
            if (kept.get(at) != null) {
                T taken = kept.getAndSet(at, null);
                if (taken != null) {
                    return taken;
                }
            }
        }
        return maker.get();
    }

    /**
     * Gives an object back, once. It is dropped if there is no place for it. Allocates nothing.
     *
     * @param taken not to be used any more by the caller
     */
    public void giveBack(T taken) {
        int first = first();
        for (int i = 0; i < places; i++) {
            int at = at(first + i);
            if (kept.get(at) == null && kept.compareAndSet(at, null, taken)) {
                return;
            }
        }
    }

    /** The place at which the calling thread begins to look. */
    private int first() {
        return (int) Math.unsignedMultiplyHigh(Thread.currentThread().threadId() * SPREAD, places);
    }

    private int at(int place) {
        return ((place < places ? place : place - places) + 1) * APART;
    }
}
