package io.github.roost.core.dispatch;

import io.github.roost.core.mapping.Mapping;

/**
 * The dispatch of V2: a worker of the mapping id's home domain. Inside the domain a mapping id keeps to one worker, so
 * that its data stay in that core's private cache, unless a second worker drawn at random is less loaded (the power of
 * two choices: Mitzenmacher, IEEE TPDS 12(10), 2001). While nobody there sleeps only one task in four compares the two, which
 * costs cache lines that workers write with every task: queues still even out (the (1 + beta)-choice: Peres, Talwar and Wieder,
 * SODA 2010), and who runs dry steals. While tasks are so short that a private cache saves them less than the way to another core
 * costs, they wait at the core of their caller instead. Of several homes the least loaded of two drawn at random is taken.
 */
public final class HomeDomainDispatcher implements Dispatcher {
    private final WorkerLayout layout;

    /**
     * Dispatches to the workers of a machine.
     *
     * @param layout the workers
     */
    public HomeDomainDispatcher(WorkerLayout layout) {
        this.layout = layout;
    }

    @Override
    public int worker(int slot, Mapping mapping, LoadView load, long ticket) {
        int domain = mapping.homeCount(slot) == 1 ? mapping.home(slot, 0) : lessLoadedHome(slot, mapping, load, ticket);
        int workers = layout.workersIn(domain);
        int usual = Integer.remainderUnsigned(mix(slot), workers);
        int preferred = layout.workerIn(domain, usual);
        if (workers == 1) {
            return preferred;
        }
        if (load.noneAsleepBeside(preferred)) {
            int near = load.nearCaller(preferred);
            if (near >= 0) {
                return near;
            }
            if (!compares(ticket)) {
                return preferred;
            }
        }
        int loadOfPreferred = load.load(preferred);
        if (loadOfPreferred == 0) {
            return preferred;
        }
        int step = 1 + ((int) ticket & Integer.MAX_VALUE) % (workers - 1);
        int other = layout.workerIn(domain, (usual + step) % workers);
        return loadOfPreferred <= load.load(other) ? preferred : other;
    }

    /** By the highest bits of the ticket: of the random ones one in four has none of the two. */
    private static boolean compares(long ticket) {
        return ticket >>> (Long.SIZE - 2) == 0;
    }

    private int lessLoadedHome(int slot, Mapping mapping, LoadView load, long ticket) {
        int homes = mapping.homeCount(slot);
        int first = (int) Long.remainderUnsigned(ticket >>> 16, homes);
        int second = (first + 1 + (int) Long.remainderUnsigned(ticket >>> 32, homes - 1)) % homes;
        int one = mapping.home(slot, first);
        int two = mapping.home(slot, second);
        return meanLoad(one, load) <= meanLoad(two, load) ? one : two;
    }

    private double meanLoad(int domain, LoadView load) {
        int workers = layout.workersIn(domain);
        int sum = 0;
        for (int i = 0; i < workers; i++) {
            sum += load.load(layout.workerIn(domain, i));
        }
        return (double) sum / workers;
    }

    /** Spreads consecutive slots over workers: the finaliser of MurmurHash3 (Appleby). */
    private static int mix(int slot) {
        int h = slot;
        h ^= h >>> 16;
        h *= 0x85ebca6b;
        h ^= h >>> 13;
        h *= 0xc2b2ae35;
        h ^= h >>> 16;
        return h;
    }
}
