package io.github.roost.index.ivf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.index.ivf.kernel.ScanKernels;
import io.github.roost.neighborhash.spi.RowMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Changes that find no memory on their way. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class IvfRowsTest {
    private static final int MANY = InsertBuffer.MAX_TOGETHER + 4;

    /** New ids that there is memory for. */
    private int room = Integer.MAX_VALUE;

    private final RowLayout layout = RowLayout.ofFloats(2);
    private final RowList[] lists = {new RowList(layout), new RowList(layout)};
    private final CoarseQuantizer quantizer =
            new CoarseQuantizer(ScanKernels.preferred(), new float[][] {{0, 0}, {9, 9}});
    private final IvfRows rows = new IvfRows(new Lists(quantizer, layout, lists), new RowMap(0) {
        @Override
        public long put(long id, int list, int place) {
            if (get(id) == NOWHERE && room-- == 0) {
                room = 0;
                throw new OutOfMemoryError("for this test");
            }
            return super.put(id, list, place);
        }
    });

    @AfterEach
    void release() {
        rows.release();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 57, 99})
    void anAdditionWhoseIdsFindNoMemoryAddsNothingAndCanBeDoneAgain(int found) {
        add(0, MANY);
        room = found;
        assertThatThrownBy(() -> add(MANY, 100)).isInstanceOf(OutOfMemoryError.class);
        assertThat(rows.size()).isEqualTo(MANY);
        assertHoldsOrdinalsTo(MANY);
        for (long id = MANY; id < MANY + 100; id++) {
            assertThat(rows.remove(id)).isEqualTo(-1);
        }
        room = Integer.MAX_VALUE;
        add(MANY, 100);
        assertHoldsOrdinalsTo(MANY + 100);
    }

    @Test
    void aSingleAdditionThatFindsNoMemoryForItsIdLeavesNoTrace() {
        add(0, 3);
        room = 0;
        assertThatThrownBy(() -> add(3, 1)).isInstanceOf(OutOfMemoryError.class);
        assertThat(rows.remove(3)).isEqualTo(-1);
        assertHoldsOrdinalsTo(3);
        room = 1;
        add(3, 1);
        assertHoldsOrdinalsTo(4);
    }

    /** A list that is not there stands for one that finds no memory. */
    @Test
    void anAdditionThatFindsNoMemoryForItsLastRowShowsNoneOfTheOthers() {
        add(0, MANY);
        int before = lists[0].rows() + lists[1].rows();
        RowList full = lists[1];
        lists[1] = null;
        float[][] vectors = new float[100][];
        Arrays.fill(vectors, new float[] {1, 1});
        vectors[99] = new float[] {9, 9};
        long[] ids = LongStream.range(MANY, MANY + 100).toArray();
        assertThatThrownBy(() -> rows.add(ids, vectors)).isInstanceOf(NullPointerException.class);
        lists[1] = full;
        assertThat(lists[0].rows() + lists[1].rows()).isEqualTo(before);
        assertHoldsOrdinalsTo(MANY);
        rows.add(ids, vectors);
        assertHoldsOrdinalsTo(MANY + 100);
    }

    /** A row without components stands for one that finds no memory. */
    @Test
    void aRowThatCannotBeWrittenLeavesNoTraceInTheBuffer() {
        add(0, 3);
        float[][] vectors = {{1, 1}, null};
        assertThatThrownBy(() -> rows.add(new long[] {3, 4}, vectors)).isInstanceOf(NullPointerException.class);
        assertHoldsOrdinalsTo(3);
        assertThat(rows.lists().buffer().rows().rows()).isEqualTo(3);
        add(3, 2);
        assertHoldsOrdinalsTo(5);
    }

    @Test
    void aChangeThatFailsLeavesTheRowAsItWas() {
        add(0, MANY);
        RowList full = lists[1];
        long inFirst =
                LongStream.range(0, MANY).filter(id -> id % 2 == 0).findFirst().orElseThrow();
        lists[1] = null;
        assertThatThrownBy(() -> rows.update(inFirst, new float[] {9, 9})).isInstanceOf(NullPointerException.class);
        lists[1] = full;
        assertHoldsOrdinalsTo(MANY);
        assertThat(rows.update(inFirst, new float[] {9, 9})).isZero();
        assertThat(rows.remove(inFirst)).isEqualTo(1);
        assertThat(rows.remove(inFirst)).isEqualTo(-1);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, MANY, 500})
    void rowsNeverTakeMoreThanTheLimitNotEvenWhileTheyAreAddedOrFlushed(int together) {
        long[] max = {0};
        long[] most = {0};
        rows.limitBy(bytes -> {
            // What the rows take at this moment: a check comes before the memory, not after it.
            most[0] = Math.max(most[0], rows.bytes() - max[0]);
            if (bytes.getAsLong() > max[0]) {
                throw new IllegalStateException("full");
            }
        });
        int added = 0;
        for (max[0] = rows.bytes(); added < 2_000; max[0] += 300) {
            try {
                add(added, together);
                added += together;
            } catch (IllegalStateException full) {
                assertThat(full).hasMessage("full");
            }
            try {
                IvfRows.Steps flush = rows.flush(rows.lists().buffer());
                while (flush.step() == IvfRows.Progress.MORE) {
                    assertThat(rows.bytes()).isLessThanOrEqualTo(max[0]);
                }
            } catch (IllegalStateException full) {
                assertThat(full).hasMessage("full");
            }
            assertThat(rows.bytes()).isLessThanOrEqualTo(max[0]);
        }
        assertThat(most[0]).isZero();
        assertHoldsOrdinalsTo(added);
    }

    /** Even ids near the first list, odd ones near the second. */
    private void add(long first, int count) {
        rows.add(
                LongStream.range(first, first + count).toArray(),
                IntStream.range(0, count)
                        .mapToObj(i -> (first + i) % 2 == 0 ? new float[] {1, 1} : new float[] {8, 8})
                        .toArray(float[][]::new));
    }

    private void assertHoldsOrdinalsTo(int count) {
        List<Long> held = new ArrayList<>();
        for (int list = 0; list <= rows.lists().count(); list++) {
            rows.lists().rows(list).forEachLive((id, place) -> held.add(id));
        }
        assertThat(held)
                .containsExactlyInAnyOrderElementsOf(
                        LongStream.range(0, count).boxed().toList());
        assertThat(rows.size()).isEqualTo(count);
    }
}
