package io.github.roost.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.neighborhash.CheckedMemory;
import io.github.roost.neighborhash.NeighborHashMap;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Versions that find no memory. */
class NoMemoryTest {
    private static final Schema SCHEMA = Schema.of(Column.ofLong("round"), Column.ofBytes("pad"));
    private static final int KEYS = 3_000;
    private static final int PUTS = 12_000;

    private boolean hasMemory = true;
    private int refused;

    private void requireMemory() {
        if (!hasMemory) {
            refused++;
            throw new OutOfMemoryError("for this test");
        }
    }

    /** Every time that the index or the values would grow they cannot at first. */
    @Test
    void anUpsertThatFindsNoMemoryChangesNothing() {
        NeighborHashMap index = CheckedMemory.map(this::requireMemory);
        Values values = Values.empty((bytes, arena) -> {
            requireMemory();
            return Values.allocate(bytes, arena);
        });
        SplittableRandom random = new SplittableRandom(28);
        Map<Long, Long> expected = new HashMap<>();
        try (Version version = new Version(1, SCHEMA, index, values, null)) {
            RowWriter row = SCHEMA.writer();
            for (long round = 0; round < PUTS; round++) {
                long key = random.nextInt(KEYS);
                row.setLong(0, round).setBytes(1, new byte[random.nextInt(3_000)]);
                hasMemory = false;
                try {
                    version.put(key, row.row());
                } catch (OutOfMemoryError full) {
                    requireRows(version, expected);
                    hasMemory = true;
                    version.put(key, row.row());
                }
                expected.put(key, round);
            }
            requireRows(version, expected);
            assertThat(values.chunks().length).isGreaterThan(1);
            assertThat(refused).isGreaterThan(15);
        }
    }

    private static void requireRows(Version version, Map<Long, Long> expected) {
        assertThat(version.index().size()).isEqualTo(expected.size());
        expected.forEach((key, round) -> assertThat(version.row(version.index().get(key, NeighborHashMap.ABSENT))
                        .get(Schema.LONG, 0))
                .isEqualTo(round));
    }

    @Test
    void valuesThatFindNoMemoryWhileTheyAreLoadedLeaveNothingBehind() {
        List<Arena> arenas = new ArrayList<>();
        assertThatThrownBy(() -> Values.ofBytes(3L * Values.CHUNK_BYTES, (bytes, arena) -> {
                    arenas.add(arena);
                    hasMemory = arenas.size() < 3;
                    requireMemory();
                    return Values.allocate(bytes, arena);
                }))
                .isInstanceOf(OutOfMemoryError.class);
        assertThat(arenas).hasSize(3).allMatch(arena -> !arena.scope().isAlive());
    }
}
