package io.github.roost.core;

import io.github.roost.topology.Topology;
import java.util.BitSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The CPUs that orchestrators of this process have pinned workers to. A second orchestrator on the same CPUs is nearly always a mistake,
 * since the workers of both share them; it is logged, not refused. Thread-safe.
 */
final class PinnedCores implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PinnedCores.class);
    private static final PinnedCores NONE = new PinnedCores(new BitSet());

    /**
     * Guarded by the class. Not counted: CPUs that two orchestrators share are removed by the first to close, so a warning may be missed
     * but is never wrong.
     */
    private static final BitSet TAKEN = new BitSet();

    private final BitSet mine;

    PinnedCores(BitSet mine) {
        this.mine = mine;
    }

    /** Takes the CPUs of a topology, if workers are pinned. */
    static PinnedCores of(Topology topology, boolean pins) {
        if (!pins) {
            return NONE;
        }
        BitSet mine = new BitSet();
        topology.domains()
                .forEach(domain -> domain.cores().forEach(core -> core.pus().forEach(mine::set)));
        if (!take(mine)) {
            LOG.warn("another orchestrator of this process is open: workers of both are pinned to the same cores;"
                    + " share one, or give each the topology of a part of the machine");
        }
        return new PinnedCores(mine);
    }

    /** Takes the CPUs; returns whether all of them were free. */
    static synchronized boolean take(BitSet mine) {
        boolean free = !TAKEN.intersects(mine);
        TAKEN.or(mine);
        return free;
    }

    @Override
    public void close() {
        synchronized (PinnedCores.class) {
            TAKEN.andNot(mine);
        }
    }
}
