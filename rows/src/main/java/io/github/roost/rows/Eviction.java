package io.github.roost.rows;

import io.github.roost.core.MappingId;
import io.github.roost.core.OrchestratorClosedException;
import io.github.roost.core.TableClosedException;
import io.github.roost.core.spi.Indexing;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Evicts rows of a version as maintenance of an orchestrator; at most one eviction runs at a time. Thread-safe. */
final class Eviction {
    private static final Logger LOG = LoggerFactory.getLogger(Eviction.class);

    private final HotRows hot;
    private final Indexing indexing;
    private final MappingId mappingId;
    private final AtomicBoolean isWanted = new AtomicBoolean();

    Eviction(HotRows hot, Indexing indexing, MappingId mappingId) {
        this.hot = hot;
        this.indexing = indexing;
        this.mappingId = mappingId;
    }

    /** Starts evicting rows until there is room, unless that is under way. A caller that finds no room just as an eviction ends calls again. */
    void want() {
        if (!isWanted.compareAndSet(false, true)) {
            return;
        }
        try {
            var _ = indexing.maintenance(mappingId, context -> hot.evict()).whenComplete((none, failure) -> {
                isWanted.set(false);
                if (failure != null) {
                    LOG.warn("rows are not evicted, so others stay cold", failure);
                }
            });
        } catch (OrchestratorClosedException | TableClosedException e) {
            // Rows in memory stay there, and other rows are read from the file. isWanted stays set, so no eviction is
            // started again.
            LOG.debug("rows are evicted no more", e);
        }
    }
}
