package io.github.roost.index.remote;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The space of a region that a new block can go to. Immutable; a pure function of what it is made of. */
final class FreeSpace {
    private final long end;
    private final long oldestHeld;
    private final List<Directory.Space> spaces;

    /**
     * What is free beside a directory's blocks.
     *
     * @param directory whose blocks stay where they are
     * @param oldestHeld the oldest epoch that a reader holds: space that is part of it or of a later one is not free yet
     * @param lost space that writers which were lost may still write to
     * @param regionBytes where the region ends
     */
    FreeSpace(Directory directory, long oldestHeld, List<Filling> lost, long regionBytes) {
        this.end = directory.end();
        this.oldestHeld = oldestHeld;
        List<Directory.Space> all = new ArrayList<>(directory.free());
        all.add(new Directory.Space(end, regionBytes - end, 0));
        this.spaces = joined(without(all, lost), oldestHeld);
    }

    /**
     * Where a block goes, and what is free then.
     *
     * @param at where the block begins, a whole page
     * @param free what is left
     * @param end after all blocks
     */
    record Found(long at, List<Directory.Space> free, long end) {}

    /**
     * Finds the smallest space that takes a block.
     *
     * @param bytes of the block, whole pages
     * @return null where there is none
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

    /** The largest space that is free. */
    long largest() {
        return spaces.stream()
                .filter(this::isFree)
                .mapToLong(Directory.Space::bytes)
                .max()
                .orElse(0);
    }

    /** Bytes that are kept for readers. */
    long held() {
        return spaces.stream()
                .filter(space -> !isFree(space))
                .mapToLong(Directory.Space::bytes)
                .sum();
    }

    private boolean isFree(Directory.Space space) {
        return space.lastEpoch() < oldestHeld;
    }

    private static List<Directory.Space> without(List<Directory.Space> spaces, List<Filling> lost) {
        List<Directory.Space> left = spaces;
        for (Filling hole : lost) {
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

    /** Neighbours become one where both are free by now. */
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
