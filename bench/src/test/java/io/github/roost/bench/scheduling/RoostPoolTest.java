package io.github.roost.bench.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RoostPoolTest {
    private static final int TASKS = 100;

    @Test
    void tasksThatReportTrafficAreCounted() throws Exception {
        RoostPool pool = RoostPool.open();
        run(pool);

        assertThat(pool.reportedBytes()).isEqualTo(TASKS * RoostPool.BYTES);
    }

    @Test
    void tasksWithoutReportsLeaveNoTraffic() throws Exception {
        RoostPool pool = RoostPool.open();
        run(pool.withoutReports());

        assertThat(pool.reportedBytes()).isZero();
    }

    private static void run(RoostPool pool) throws Exception {
        try (pool) {
            for (int task = 0; task < TASKS; task++) {
                pool.submit(() -> {}).get();
            }
        }
    }
}
