package io.github.roost.bench.cachesim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.roost.bench.cachesim.GuestJvm.Counted;
import io.github.roost.bench.cachesim.SavedTables.Index;
import io.github.roost.bench.cachesim.Section.L3;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real guest on modelled caches: two domains, each with a cache for half of the tables. */
@Tag("program")
class CachesimTest {
    private static final int SEARCHES = 300;
    private static final int DOMAINS = 2;
    private static final long L3_BYTES = 2 << 20;
    /** Longer than the run: nothing crosses. */
    private static final int NEVER_MICROS = 1_000_000_000;

    private @TempDir Path folder;

    @Test
    void homesSaveMissesWhereAllTablesFitAllCachesButNotOne() throws Exception {
        assumeTrue(Emulator.isThere(), "no qemu-x86_64 or no plugin: install qemu-user and gcc");
        SavedTables tables = SavedTables.build(folder, Index.HNSW, 6, 800);
        tables.drawSearches(2 * SEARCHES, 0);
        GuestJvm guest = new GuestJvm(tables, new CacheModel(64 << 10, 8, List.of(L3_BYTES), 16, 64, 20_000));

        Counted anywhere = guest.run(run("v0"));
        Counted homes = guest.run(run("roost"));

        assertThat(List.of(anywhere, homes)).allSatisfy(counted -> {
            assertThat(counted.section().domains()).hasSize(DOMAINS).allMatch(domain -> domain.references() > 0);
            assertThat(counted.scheduled().tasks()).isEqualTo(SEARCHES);
        });
        assertThat(homes.scheduled().across()).isZero();
        // Mostly less than half; but homes move by the clock, and on a busy machine more often in as many searches.
        assertThat(homes.section().sum(0, L3::capacity))
                .isLessThan(anywhere.section().sum(0, L3::capacity) * 3 / 4);
    }

    private GuestRun run(String policy) {
        return new GuestRun(folder, policy, DOMAINS, 1, L3_BYTES, SEARCHES, SEARCHES, 8, NEVER_MICROS, 1_000);
    }
}
