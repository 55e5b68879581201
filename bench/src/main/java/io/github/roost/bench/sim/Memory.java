package io.github.roost.bench.sim;

import io.github.roost.core.dispatch.WorkerLayout;

/**
 * Caches and memory of a machine. Every core has a private L2; every last-level cache is filled by what the L2s of its
 * cores displace, as AMD's are, and keeps what it gives back to them. Reading from L2 costs nothing beyond computing;
 * from L3 and memory the latency, shared by the lines that are fetched at a time; from memory also the wait for the
 * domain's link and the package's memory. Not thread-safe.
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
     * @param l3Of which last-level cache each worker's core is under
     * @param packageOf which package each last-level cache is on
     * @param sampling how much of what is read is simulated
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
     * @param core who reads
     * @param key what
     * @param size its bytes
     * @param weight how many like it it stands for
     * @param now when, in nanoseconds
     * @param inFlight cache lines that are fetched at the same time
     * @return nanoseconds that the core waits for each of these
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

    /** Lines that came from L3 and from memory so far. */
    record Lines(double l3, double dram) {
        static final Lines NONE = new Lines(0, 0);
    }

    Lines lines() {
        return new Lines(l3Lines, dramLines);
    }

    /** As {@link #l3MissRatio}, of what was looked for since. */
    double l3MissRatioSince(Lines before) {
        double missed = dramLines - before.dram();
        double asked = l3Lines - before.l3() + missed;
        return asked == 0 ? 0 : missed / asked;
    }

    /** Starts counting anew; the caches keep what they hold. */
    void resetCounts() {
        l2Lines = 0;
        l3Lines = 0;
        dramLines = 0;
    }

    /** Lines that were not in L3, as a share of those that were looked for there. */
    double l3MissRatio() {
        return l3MissRatioSince(Lines.NONE);
    }

    /** Bytes that came from memory. */
    double dramBytes() {
        return dramLines * LINE_BYTES;
    }

    /** Lines that were in the reader's L2, as a share of all. */
    double l2HitRatio() {
        double all = l2Lines + l3Lines + dramLines;
        return all == 0 ? 0 : l2Lines / all;
    }
}
