package io.github.roost.index.ivf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.SearchContext;
import io.github.roost.index.ivf.kernel.QueryGroup;
import io.github.roost.index.ivf.kernel.Reservoir;
import io.github.roost.index.ivf.kernel.ScanKernels;
import io.github.roost.vector.Metric;
import java.util.List;
import java.util.function.LongPredicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class FloatScannerTest {
    private final RowList list = threeRows();
    private final FloatScanner scanner = new FloatScanner(ScanKernels.preferred(), Metric.SQUARED_L2, 8, Float.BYTES);
    private long nodes;
    private long bytes;
    private final SearchContext context = SearchContext.outside((moreNodes, moreBytes) -> {
        nodes += moreNodes;
        bytes += moreBytes;
    });

    @Test
    void aGroupReadsTheListOnce() {
        FloatQuery first = query(2);
        FloatQuery second = query(3);
        scanner.scan(list, List.of(first, second), context);
        assertThat(first.result().found().size()).isEqualTo(2);
        assertThat(second.result().found().size()).isEqualTo(3);
        assertThat(nodes).isEqualTo(3);
        assertThat(bytes).isEqualTo(3 * 8 * Float.BYTES);
    }

    @Test
    void aQueryThatHasFailedIsNotScannedFor() {
        FloatQuery failed = query(1);
        failed.fail(new IllegalStateException("a filter's"));
        scanner.scan(list, List.of(failed), context);
        assertThat(bytes).isZero();
        assertThatThrownBy(failed::result).hasMessage("a filter's");
    }

    @Test
    void aFilteredQueryReadsOnlyTheRowsItMayFind() {
        FloatQuery filtered = query(3, id -> id == 1);
        scanner.scan(list, List.of(filtered), context);
        assertThat(filtered.result().found().ids()).containsExactly(1);
        assertThat(nodes).isEqualTo(1);
        assertThat(bytes).isEqualTo(3 * Long.BYTES + 8 * Float.BYTES);
    }

    @Test
    void moreQueriesThanAGroupTakesAreAllAnswered() {
        List<IvfQuery<?>> queries =
                IntStream.range(0, 150).<IvfQuery<?>>mapToObj(i -> query(1)).toList();
        scanner.scan(list, queries, context);
        assertThat(queries).allMatch(query -> query.result().found().size() == 1);
        assertThat(nodes).isEqualTo(3 * 3);
    }

    @Test
    void aRowThatWasMetTwiceInPlaceOfAnotherHasTheSearchDoneAgain() {
        FloatQuery query = queryWhileRowsMove(2);
        scanner.scan(aRowAtTwoPlaces(), List.of(query), context);
        assertThat(query.result().lacks()).isTrue();
    }

    /** Two scans at once, of which one meets row 0 twice and so leaves out row 1; the other has only far ones to offer. */
    @Test
    void aRowThatWasMetTwiceInPlaceOfANearerOneThanAnotherScanHasFoundHasTheSearchDoneAgain() {
        IvfRequest request =
                new IvfRequest(new StoredQuery(new float[8]), 2, 2, Float.POSITIVE_INFINITY, null, Long.MAX_VALUE, 0);
        FloatQuery query = new FloatQuery(ScanKernels.preferred(), request, () -> true);
        QueryGroup other = new QueryGroup();
        other.begin(Metric.SQUARED_L2, 8, 2);
        Reservoir far = query.borrow();
        other.add(new float[8], far, query.bound());
        scanner.scan(aRowAtTwoPlaces(), List.of(query), context);
        RowList farRows = new RowList(RowLayout.ofFloats(8));
        farRows.add(900, new float[] {100, 0, 0, 0, 0, 0, 0, 0});
        ScanKernels.preferred().scan(farRows.runs().getFirst(), other);
        other.finish();
        query.giveBack(far, 1);
        assertThat(query.result().lacks()).isTrue();
    }

    @Test
    void aRowThatWasMetTwiceInPlaceOfNoneHasNothingDoneAgain() {
        RowList whole = new RowList(RowLayout.ofFloats(8));
        whole.add(0, new float[] {1, 0, 0, 0, 0, 0, 0, 0});
        whole.add(0, new float[8]);
        whole.add(1, new float[8]);
        for (int k : new int[] {1, 2, 4}) {
            FloatQuery query = queryWhileRowsMove(k);
            scanner.scan(whole, List.of(query), context);
            IvfQuery.Result result = query.result();
            assertThat(result.lacks()).isFalse();
            assertThat(result.found().ids()).hasSize(Math.min(k, 2)).startsWith(0);
        }
    }

    @Test
    void aSearchWithoutRoomForAllThatWereAskedForIsDoneAgain() {
        IvfRequest roomForTwo =
                new IvfRequest(new StoredQuery(new float[8]), 3, 2, Float.POSITIVE_INFINITY, null, Long.MAX_VALUE, 0);
        FloatQuery query = new FloatQuery(ScanKernels.preferred(), roomForTwo, () -> false);
        scanner.scan(list, List.of(query), context);
        assertThat(query.result().lacks()).isTrue();
    }

    /** Row 0, moved from distance 1 to distance 0 meanwhile, and farther rows, so many that most are dropped on the way. */
    private static RowList aRowAtTwoPlaces() {
        RowList list = new RowList(RowLayout.ofFloats(8));
        list.add(0, new float[] {1, 0, 0, 0, 0, 0, 0, 0});
        list.add(0, new float[8]);
        for (int id = 1; id < 500; id++) {
            list.add(id, new float[] {1 + id, 0, 0, 0, 0, 0, 0, 0});
        }
        return list;
    }

    private static FloatQuery queryWhileRowsMove(int k) {
        IvfRequest request =
                new IvfRequest(new StoredQuery(new float[8]), k, k, Float.POSITIVE_INFINITY, null, Long.MAX_VALUE, 0);
        return new FloatQuery(ScanKernels.preferred(), request, () -> true);
    }

    private static RowList threeRows() {
        RowList list = new RowList(RowLayout.ofFloats(8));
        for (int id = 0; id < 3; id++) {
            list.add(id, new float[8]);
        }
        return list;
    }

    private static FloatQuery query(int k) {
        return query(k, null);
    }

    private static FloatQuery query(int k, @Nullable LongPredicate filter) {
        IvfRequest request =
                new IvfRequest(new StoredQuery(new float[8]), k, k, Float.POSITIVE_INFINITY, filter, Long.MAX_VALUE, 0);
        return new FloatQuery(ScanKernels.preferred(), request, () -> false);
    }
}
