package io.github.roost.bench.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.bench.table.BatchBench.Growth;
import io.github.roost.bench.table.BatchBench.Report;
import io.github.roost.bench.table.BatchBench.Result;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.Jedis;

/** Chronicle Map runs in another JVM, and Redis is another program. */
@Tag("program")
@Tag("nightly")
@Timeout(value = 300, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BatchBenchTest {
    @TempDir
    private Path folder;

    @Test
    void allStoresHaveTheSameValuesAndAreMeasuredAndRedisWhereItIsInstalled() throws IOException {
        Report report = BatchBench.measure(500, List.of(10, 100), 1);
        Optional<Path> redis = LocalRedis.program();
        assertThat(report.hasRedis()).isEqualTo(redis.isPresent());
        int stores = report.hasRedis() ? 6 : 5;
        assertThat(report.results())
                .hasSize(2 * stores)
                .allSatisfy(result -> assertThat(result.micros().median()).isPositive());
        assertThat(report.results().subList(0, stores))
                .extracting(Result::name)
                .contains("Table.Reader.getAll", "Chronicle Map, off-heap")
                .doesNotHaveDuplicates();
        assertThat(report.growth()).hasSize(stores).extracting(Growth::factor).allMatch(factor -> factor > 0);
        assertThat(report.chronicleBytes()).isGreaterThan(500 * 1_024);
        if (redis.isPresent()) {
            try (LocalRedis server = LocalRedis.start(redis.get(), folder);
                    Jedis client = server.connect()) {
                assertThat(client.mget("nothing".getBytes(java.nio.charset.StandardCharsets.UTF_8)))
                        .containsExactly((byte[]) null);
            }
        }
    }
}
