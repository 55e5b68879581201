package io.github.roost.simulator;

import io.github.roost.core.dispatch.WorkerLayout;

/**
 * Caches and memory of a machine. Every core has a private L2; every last-level cache is a victim cache of its cores'
 * L2s, as in AMD's processors, and keeps a line after returning it to an L2. A read from L2 costs nothing beyond
 * computing; a read from L3 or memory costs the latency divided by the lines in flight; a read from memory also waits
 * for the domain's link and the package's memory bandwidth. Not thread-safe.
 */
final class Memory {
    static final int LINE_BYTES = 64;

    private final Parameters.Machine machine;
    private final LruCache[] l2;
    private final LruCache[] l3;
    private final int[] l3Of;
    private final int[] linkOf;
    private final int[] packageOf;
    private final Bandwidth[] links;
    private final Bandwidth[] packages;
    private double l2Lines;
    private double l3Lines;
    private double dramLines;

    /**
     * @param layout one worker per core
     * @param l3Of last-level cache of each worker's core
     * @param packageOf package of each last-level cache
     * @param sampling fraction of the reads that is simulated
     */
    Memory(Parameters.Machine machine, WorkerLayout layout, int[] l3Of, int[] packageOf, Sampling sampling) {
        this.machine = machine;
        this.l3Of = l3Of;
        this.packageOf = packageOf;
        this.l2 = new LruCache[layout.workers()];
        for (int core = 0; core < l2.length; core++) {
            l2[core] = new LruCache(Math.round(machine.l2Kib() * 1024 / sampling.every()));
        }
        this.l3 = new LruCache[packageOf.length];
        this.linkOf = new int[l3.length];
        for (int cache = 0; cache < l3.length; cache++) {
            l3[cache] = new LruCache(Math.round(machine.l3Mib() * 1024 * 1024 / sampling.every()));
            linkOf[cache] = cache / machine.domainsPerLink();
        }
        this.links = new Bandwidth[1 + linkOf[l3.length - 1]];
        for (int link = 0; link < links.length; link++) {
            links[link] = new Bandwidth(machine.linkGBs());
        }
        this.packages = new Bandwidth[1 + packageOf[l3.length - 1]];
        for (int chip = 0; chip < packages.length; chip++) {
            packages[chip] = new Bandwidth(machine.packageGBs());
        }
    }

    /**
     * Reads one node or block.
     *
     * @param core the reader
     * @param key of the node or block
     * @param size in bytes
     * @param weight number of nodes or blocks that this one stands for
     * @param now virtual time in nanoseconds
     * @param inFlight cache lines fetched at the same time
     * @return nanoseconds that the core waits per node or block
     */
    double read(int core, int key, int size, double weight, double now, Parameters.LinesInFlight inFlight) {
        int lines = (size + LINE_BYTES - 1) / LINE_BYTES;
        LruCache own = l2[core];
        if (own.touch(key)) {
            l2Lines += lines * weight;
            return 0;
        }
        int cache = l3Of[core];
        LruCache shared = l3[cache];
        double stall;
        if (shared.touch(key)) {
            l3Lines += lines * weight;
            stall = lines * machine.l3Nanos() / inFlight.l3();
        } else {
            dramLines += lines * weight;
            double bytes = lines * LINE_BYTES * weight;
            double queue =
                    Math.max(links[linkOf[cache]].delay(now, bytes), packages[packageOf[cache]].delay(now, bytes));
            stall = lines * machine.dramNanos() / inFlight.dram() + queue / weight;
        }
        own.insert(key, size);
        while (own.isOverfull()) {
            int displacedSize = own.oldestSize();
            int displaced = own.forgetOldest();
            if (!shared.touch(displaced)) {
                shared.insert(displaced, displacedSize);
            }
        }
        while (shared.isOverfull()) {
            shared.forgetOldest();
        }
        return stall;
    }

    /** Lines read from L3 and from memory so far. */
    record Lines(double l3, double dram) {
        static final Lines NONE = new Lines(0, 0);
    }

    Lines lines() {
        return new Lines(l3Lines, dramLines);
    }

    /** The {@link #l3MissRatio} of the lines looked up since {@code before}. */
    double l3MissRatioSince(Lines before) {
        double missed = dramLines - before.dram();
        double requested = l3Lines - before.l3() + missed;
        return requested == 0 ? 0 : missed / requested;
    }

    /** Resets the counts; the caches keep their content. */
    void resetCounts() {
        l2Lines = 0;
        l3Lines = 0;
        dramLines = 0;
    }

    /** Lines missing in L3, as a share of the lines looked up in L3. */
    double l3MissRatio() {
        return l3MissRatioSince(Lines.NONE);
    }

    /** Bytes read from memory. */
    double dramBytes() {
        return dramLines * LINE_BYTES;
    }

    /** Lines found in the reader's L2, as a share of all lines. */
    double l2HitRatio() {
        double all = l2Lines + l3Lines + dramLines;
        return all == 0 ? 0 : l2Lines / all;
    }
}
