package io.github.roost.core.dispatch;

import io.github.roost.core.mapping.Mapping;

/**
 * The dispatcher of V2: a worker of the mapping id's home domain. Inside the domain a mapping id has a preferred worker, so that
 * its data stay in that core's private cache, unless a second worker drawn at random is less loaded (the power of two choices:
 * Mitzenmacher, IEEE TPDS 12(10), 2001). While no worker of the domain sleeps, a task leaves it only for a
 * worker with at most half its load: waiting a little costs less than moving the data, but the queue of an id with more traffic
 * than one worker serves must not hold all tasks of the domain, whose other workers would steal them one at a time. If tasks are
 * so short that a private cache saves them less than the handover to another core costs, they go to the worker on the caller's
 * core instead. If the id has several homes, two are drawn at random and the less loaded one is taken.
 */
public final class HomeDomainDispatcher implements Dispatcher {
    /** Minimum load at which tasks wait. */
    private static final int QUEUE = 2;

    private final WorkerLayout layout;

    /**
     * Creates a dispatcher for the workers of a machine.
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
        boolean noneAsleep = load.noneAsleepBeside(preferred);
        if (noneAsleep) {
            int near = load.nearCaller(preferred);
            if (near >= 0) {
                return near;
            }
        }
        int loadOfPreferred = load.load(preferred);
        if (loadOfPreferred < (noneAsleep ? QUEUE : 1)) {
            return preferred;
        }
        int step = 1 + ((int) ticket & Integer.MAX_VALUE) % (workers - 1);
        int other = layout.workerIn(domain, (usual + step) % workers);
        int loadOfOther = load.load(other);
        boolean leaves = noneAsleep ? 2 * loadOfOther <= loadOfPreferred : loadOfOther < loadOfPreferred;
        return leaves ? other : preferred;
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

    /** Spreads consecutive slots over workers: the finalizer of MurmurHash3 (Appleby). */
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
