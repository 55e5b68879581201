package io.github.roost.index.ivf;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Metric;
import io.github.roost.core.SearchContext;
import io.github.roost.index.ivf.kernel.ScanKernels;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ListScannerTest {
    private static final class Recorded implements SearchContext {
        long nodes;
        long bytes;

        @Override
        public void touched(long moreNodes, long moreBytes) {
            nodes += moreNodes;
            bytes += moreBytes;
        }

        @Override
        public int worker() {
            return 0;
        }

        @Override
        public int domain() {
            return 0;
        }

        @Override
        public long epoch() {
            return 0;
        }

        @Override
        public boolean expired() {
            return false;
        }
    }

    private final InvertedLists lists = new InvertedLists(8, new int[] {3});
    private final ListScanner scanner = new ListScanner(ScanKernels.preferred(), Metric.SQUARED_L2, 8);
    private final Recorded context = new Recorded();

    @Test
    void aGroupReadsTheListOnce() {
        IvfQuery first = new IvfQuery(new float[8], 2, 1, new CompletableFuture<>());
        IvfQuery second = new IvfQuery(new float[8], 3, 1, new CompletableFuture<>());
        scanner.scan(lists.list(0), List.of(first, second), context);
        assertThat(first.answer().join().size()).isEqualTo(2);
        assertThat(second.answer().join().size()).isEqualTo(3);
        assertThat(context.nodes).isEqualTo(3);
        assertThat(context.bytes).isEqualTo(3 * 8 * Float.BYTES);
    }

    @Test
    void aCancelledQueryIsNotScannedFor() {
        IvfQuery cancelled = new IvfQuery(new float[8], 1, 1, new CompletableFuture<>());
        cancelled.answer().cancel(false);
        scanner.scan(lists.list(0), List.of(cancelled), context);
        assertThat(context.bytes).isZero();
    }

    @Test
    void moreQueriesThanAGroupTakesAreAllAnswered() {
        List<IvfQuery> queries = IntStream.range(0, 150)
                .mapToObj(i -> new IvfQuery(new float[8], 1, 1, new CompletableFuture<>()))
                .toList();
        scanner.scan(lists.list(0), queries, context);
        assertThat(queries).allMatch(query -> query.answer().join().size() == 1);
        assertThat(context.nodes).isEqualTo(3 * 3);
    }
}
