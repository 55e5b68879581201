package io.github.roost.index.disk.format;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

class BlockMapTest {
    private static final int PAGES = 20_000_000;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @Test
    void aMapGrowsByAChunkNotByACopy() {
        BlockMap map = new BlockMap();
        map.setPage(PAGES, 3);
        map.setRowBlock(PAGES, 5);
        long before = threads.getCurrentThreadAllocatedBytes();
        // More than what grows by a share has spare.
        map.setPage(2 * PAGES, 7);
        map.setRowBlock(2 * PAGES, 9);
        assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(400_000);
        assertThat(map.page(PAGES)).isEqualTo(3);
        assertThat(map.page(PAGES + 1)).isEqualTo(BlockMap.NOWHERE);
        assertThat(map.page(2 * PAGES)).isEqualTo(7);
        assertThat(map.page(3 * PAGES)).isEqualTo(BlockMap.NOWHERE);
        assertThat(map.rowBlock(PAGES)).isEqualTo(5);
        assertThat(map.rowBlock(2 * PAGES)).isEqualTo(9);
    }
}
