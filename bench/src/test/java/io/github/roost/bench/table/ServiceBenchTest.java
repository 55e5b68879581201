package io.github.roost.bench.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.bench.table.ServiceBench.Result;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("stress")
@Tag("nightly")
@Timeout(value = 300, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ServiceBenchTest {
    @Test
    void allStoresHaveTheSameValuesAndAreMeasured() throws IOException {
        List<Result> results = ServiceBench.measure(500, List.of(10, 100), 5_000, 1);
        int stores = ServiceBench.hasRedis() ? 4 : 3;
        assertThat(results)
                .extracting(Result::batch)
                .hasSize(2 * stores)
                .startsWith(10, 10)
                .endsWith(100, 100);
        assertThat(results).allSatisfy(result -> {
            assertThat(result.p50Micros().median()).isPositive();
            assertThat(result.p99Micros().median())
                    .isGreaterThanOrEqualTo(result.p50Micros().median());
            assertThat(result.batchesPerSecond().median()).isPositive();
        });
    }
}
