package io.github.roost.vector.spi;

import io.github.roost.topology.system.ProcessCpus;
import io.github.roost.vector.Vectors;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A pool of scratch objects that are costly to make and used by one search at a time: buffers, marks, heaps. A search takes one and gives
 * it back when it is done, so nested searches have one each. Unlike thread locals, the objects do not depend on the number or lifetime of
 * threads: a virtual thread per search reuses the object of an earlier one.
 *
 * <p>Lock-free: a slot holds one object or none, and take and give-back are one atomic operation each. A thread starts at a slot given by
 * its id, so a worker mostly gets the object it used last, and probes all slots before it makes or drops an object: a probe costs
 * nanoseconds, making an object costs system calls. So the pool makes about as many objects as are in use at once; a few more if an object
 * moves past a thread's probe. Once every slot has an object, it makes no more unless more are in use at once than there are slots. Pooled
 * objects are released only by {@link #takeKept}, and may be made smaller in {@link #visitKept}. Thread-safe; an object taken belongs to the taker.
 *
 * @param <T> the type of the objects
 */
public final class ScratchPool<T> {
    /** A worker and another thread per CPU, each with a nested search. */
    private static final int PLACES_PER_PROCESSOR = 4;

    private static final int MAX_PLACES = 1 << 16;
    /** Slots are this many references apart, to lie on different cache lines. */
    private static final int APART = 16;
    /** Spreads successive thread ids over the slots: 2^64 divided by the golden ratio. */
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    private final Supplier<? extends T> maker;
    private final int places;
    private final AtomicReferenceArray<@Nullable T> kept;

    /**
     * Creates a pool with four slots per CPU of the process, whichever thread creates it.
     *
     * @param maker makes an object; called by the thread that takes it
     */
    public ScratchPool(Supplier<? extends T> maker) {
        this(Math.min(MAX_PLACES, PLACES_PER_PROCESSOR * ProcessCpus.count()), maker);
    }

    /**
     * Creates a pool with a number of slots.
     *
     * @param places the number of slots: the maximum number of objects kept while not in use, from 1 to 65,536
     * @param maker makes an object; called by the thread that takes it
     */
    public ScratchPool(int places, Supplier<? extends T> maker) {
        Vectors.requireRange("places", places, 1, MAX_PLACES);
        if (maker == null) {
            throw new NullPointerException("maker must not be null");
        }
        this.maker = maker;
        this.places = places;
        this.kept = new AtomicReferenceArray<>((places + 1) * APART);
    }

    /**
     * Takes an object that is not in use, or makes one. Give it back in a {@code finally} block.
     *
     * @return an object that belongs to the caller until it is given back, in the state in which it was last given back
     */
    public T take() {
        T taken = takeKept();
        return taken == null ? maker.get() : taken;
    }

    /**
     * Takes an object that is not in use: for objects that must be closed when the pool is no longer used.
     *
     * @return an object that belongs to the caller, or null if the pool keeps none
     */
    public @Nullable T takeKept() {
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
        return null;
    }

    /**
     * Takes each object that is not in use for a moment, one after the other, for example to free memory that it no longer needs. Who
     * takes an object of a pool meanwhile may get a new one, though the visited one is free.
     *
     * @param visitor is given every object that the pool keeps, and must not keep it
     */
    public void visitKept(Consumer<? super T> visitor) {
        for (int place = 0; place < places; place++) {
            T taken = kept.get(at(place)) == null ? null : kept.getAndSet(at(place), null);
            if (taken != null) {
                visitor.accept(taken);
                if (!kept.compareAndSet(at(place), null, taken)) {
                    giveBack(taken);
                }
            }
        }
    }

    /**
     * Gives an object back, once. It is dropped if no slot is free. Allocates nothing.
     *
     * @param taken the object; the caller must not use it afterwards, but may close it if it is dropped
     * @return whether the pool keeps it
     */
    public boolean giveBack(T taken) {
        int first = first();
        for (int i = 0; i < places; i++) {
            int at = at(first + i);
            if (kept.get(at) == null && kept.compareAndSet(at, null, taken)) {
                return true;
            }
        }
        return false;
    }

    /** Returns the slot that the calling thread probes first. */
    private int first() {
        return (int) Math.unsignedMultiplyHigh(Thread.currentThread().threadId() * SPREAD, places);
    }

    private int at(int place) {
        return ((place < places ? place : place - places) + 1) * APART;
    }
}
