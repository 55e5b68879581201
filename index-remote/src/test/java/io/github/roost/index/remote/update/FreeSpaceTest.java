package io.github.roost.index.remote.update;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.index.remote.format.Directory;
import io.github.roost.index.remote.format.EpochRoot;
import io.github.roost.index.remote.format.SpaceReservation;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class FreeSpaceTest {
    private static final long PAGE = EpochRoot.PAGE;
    private static final long REGION = 100 * PAGE;

    private static Directory directory(Directory.Space... free) {
        return new Directory(7, List.of(), List.of(), List.of(free), 50 * PAGE);
    }

    private static Directory.Space space(long page, long pages, long lastEpoch) {
        return new Directory.Space(page * PAGE, pages * PAGE, lastEpoch);
    }

    @Test
    void theSmallestSpaceThatFitsIsTakenAndItsRestIsFree() {
        FreeSpace.Found found = Objects.requireNonNull(
                new FreeSpace(directory(space(10, 8, 2), space(30, 4, 3)), 9, List.of(), REGION).find(3 * PAGE));
        assertThat(found.at()).isEqualTo(30 * PAGE);
        assertThat(found.free()).containsExactly(space(10, 8, 2), space(33, 1, 3));
        assertThat(found.end()).isEqualTo(50 * PAGE);
    }

    @Test
    void whatAReaderHoldsIsNotFreeAndNeighborsThatAreFreeAreOne() {
        Directory directory = directory(space(10, 8, 5), space(20, 4, 3), space(24, 4, 4));
        // A reader of epoch 5 may read what was last part of epoch 5.
        FreeSpace held = new FreeSpace(directory, 5, List.of(), REGION);
        assertThat(held.held()).isEqualTo(8 * PAGE);
        assertThat(held.find(7 * PAGE)).extracting(FreeSpace.Found::at).isEqualTo(20 * PAGE);
        assertThat(new FreeSpace(directory, 6, List.of(), REGION).find(7 * PAGE))
                .extracting(FreeSpace.Found::at)
                .isEqualTo(10 * PAGE);
        // Where a reader holds one of two neighbors they are two.
        assertThat(new FreeSpace(directory, 4, List.of(), REGION).find(4 * PAGE))
                .extracting(FreeSpace.Found::at)
                .isEqualTo(20 * PAGE);
    }

    @Test
    void theEndOfTheRegionIsSpaceAndLostSpaceIsNone() {
        FreeSpace space = new FreeSpace(directory(), 9, List.of(new SpaceReservation(55 * PAGE, 5 * PAGE)), REGION);
        FreeSpace.Found found = Objects.requireNonNull(space.find(20 * PAGE));
        assertThat(found.at()).isEqualTo(60 * PAGE);
        assertThat(found.end()).isEqualTo(80 * PAGE);
        assertThat(found.free()).containsExactly(space(50, 5, 0));
        assertThat(space.largest()).isEqualTo(40 * PAGE);
        assertThat(space.find(41 * PAGE)).isNull();
    }
}
