package io.github.roost.index.remote.update;

import io.github.roost.index.remote.format.Directory;
import io.github.roost.index.remote.format.SpaceReservation;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The free space of a region. Immutable; a pure function of its arguments. */
final class FreeSpace {
    private final long end;
    private final long oldestHeld;
    private final List<Directory.Space> spaces;

    /**
     * Computes the free space of an epoch.
     *
     * @param directory the current directory, whose blocks are in use
     * @param oldestHeld the oldest epoch held by a reader: space that this or a later epoch uses is not free
     * @param lost space that lost writers may still write to
     * @param regionBytes size of the region
     */
    FreeSpace(Directory directory, long oldestHeld, List<SpaceReservation> lost, long regionBytes) {
        this.end = directory.end();
        this.oldestHeld = oldestHeld;
        List<Directory.Space> all = new ArrayList<>(directory.free());
        all.add(new Directory.Space(end, regionBytes - end, 0));
        this.spaces = joined(without(all, lost), oldestHeld);
    }

    /**
     * The place for a block.
     *
     * @param at offset of the block, a multiple of the page size
     * @param free the free space that is left
     * @param end end of the last block
     */
    record Found(long at, List<Directory.Space> free, long end) {}

    /**
     * Finds the smallest free space that fits a block.
     *
     * @param bytes size of the block, a multiple of the page size
     * @return null if there is none
     */
    @Nullable
    Found find(long bytes) {
        Directory.Space chosen = spaces.stream()
                .filter(space -> isFree(space) && space.bytes() >= bytes)
                .min(Comparator.comparingLong(Directory.Space::bytes).thenComparing(Directory.Space::at))
                .orElse(null);
        if (chosen == null) {
            return null;
        }
        long nextEnd = Math.max(end, chosen.at() + bytes);
        List<Directory.Space> left = new ArrayList<>();
        for (Directory.Space space : spaces) {
            long from = space.at() == chosen.at() ? space.at() + bytes : space.at();
            addPart(left, space, from, Math.min(space.end(), nextEnd));
        }
        return new Found(chosen.at(), left, nextEnd);
    }

    /** Bytes of the largest free space. */
    long largest() {
        return spaces.stream()
                .filter(this::isFree)
                .mapToLong(Directory.Space::bytes)
                .max()
                .orElse(0);
    }

    /** Bytes that are still held by readers. */
    long held() {
        return spaces.stream()
                .filter(space -> !isFree(space))
                .mapToLong(Directory.Space::bytes)
                .sum();
    }

    private boolean isFree(Directory.Space space) {
        return space.lastEpoch() < oldestHeld;
    }

    private static List<Directory.Space> without(List<Directory.Space> spaces, List<SpaceReservation> lost) {
        List<Directory.Space> left = spaces;
        for (SpaceReservation hole : lost) {
            List<Directory.Space> next = new ArrayList<>();
            for (Directory.Space space : left) {
                addPart(next, space, space.at(), Math.min(space.end(), hole.at()));
                addPart(next, space, Math.max(space.at(), hole.end()), space.end());
            }
            left = next;
        }
        return left;
    }

    private static void addPart(List<Directory.Space> parts, Directory.Space of, long from, long to) {
        if (to > from) {
            parts.add(new Directory.Space(from, to - from, of.lastEpoch()));
        }
    }

    /** Merges adjacent spaces if both are free. */
    private static List<Directory.Space> joined(List<Directory.Space> spaces, long oldestHeld) {
        List<Directory.Space> inOrder = new ArrayList<>(spaces);
        inOrder.sort(Comparator.comparingLong(Directory.Space::at));
        List<Directory.Space> joined = new ArrayList<>();
        for (Directory.Space space : inOrder) {
            Directory.Space before = joined.isEmpty() ? null : joined.getLast();
            if (before != null
                    && before.end() == space.at()
                    && before.lastEpoch() < oldestHeld
                    && space.lastEpoch() < oldestHeld) {
                joined.removeLast();
                joined.add(new Directory.Space(
                        before.at(), before.bytes() + space.bytes(), Math.max(before.lastEpoch(), space.lastEpoch())));
            } else {
                joined.add(space);
            }
        }
        return joined;
    }
}
