package io.github.roost.bench.sim;

import java.util.Arrays;

/**
 * A cache with a size in bytes that forgets what was used longest ago. It holds nodes and blocks, not lines: a search
 * reads a node's lines together, so they come and go together, and a tenth of the entries tell the same. Real caches are
 * set-associative with 8 to 16 ways and hashed sets, whose misses differ from exact LRU by a few per cent. A hash table
 * with linear probing over entries in a list by last use; all of an entry lies together, since simulating a large cache
 * is itself a matter of cache misses. Not thread-safe.
 */
final class LruCache {
    private static final int NONE = -1;
    /** Ints of an entry, and what they are. */
    private static final int ENTRY = 4;

    private static final int KEY = 0;
    private static final int SIZE = 1;
    private static final int OLDER = 2;
    private static final int NEWER = 3;

    private final long capacity;
    private long bytes;
    private int[] entries = new int[64 * ENTRY];
    private int newest = NONE;
    private int oldest = NONE;
    private int freeEntry = NONE;
    private int used;
    private int count;
    /** Where the entry of each place begins, or {@link #NONE}. */
    private int[] table = empty(256);

    LruCache(long capacity) {
        this.capacity = capacity;
    }

    private static int[] empty(int places) {
        int[] table = new int[places];
        Arrays.fill(table, NONE);
        return table;
    }

    /** Whether it is here; if so, it is now the newest. */
    boolean touch(int key) {
        int entry = table[place(key)];
        if (entry == NONE) {
            return false;
        }
        if (entry != newest) {
            unlink(entry);
            linkNewest(entry);
        }
        return true;
    }

    /**
     * Adds what is not here as the newest. What it displaces is left for {@link #forgetOldest}: call that while
     * {@link #isOverfull}.
     */
    void insert(int key, int size) {
        if ((count + 1) * 2 > table.length) {
            grow();
        }
        int entry = freeEntry;
        if (entry == NONE) {
            entry = used;
            used += ENTRY;
            if (used > entries.length) {
                entries = Arrays.copyOf(entries, 2 * entries.length);
            }
        } else {
            freeEntry = entries[entry + OLDER];
        }
        count++;
        entries[entry + KEY] = key;
        entries[entry + SIZE] = size;
        table[place(key)] = entry;
        linkNewest(entry);
        bytes += size;
    }

    boolean isOverfull() {
        return bytes > capacity;
    }

    /** Size of the oldest, before it is forgotten. */
    int oldestSize() {
        return entries[oldest + SIZE];
    }

    /** Forgets the oldest; its key. */
    int forgetOldest() {
        int entry = oldest;
        int key = entries[entry + KEY];
        unlink(entry);
        bytes -= entries[entry + SIZE];
        remove(place(key));
        entries[entry + OLDER] = freeEntry;
        freeEntry = entry;
        count--;
        return key;
    }

    private void linkNewest(int entry) {
        entries[entry + OLDER] = newest;
        entries[entry + NEWER] = NONE;
        if (newest == NONE) {
            oldest = entry;
        } else {
            entries[newest + NEWER] = entry;
        }
        newest = entry;
    }

    private void unlink(int entry) {
        int older = entries[entry + OLDER];
        int newer = entries[entry + NEWER];
        if (newer == NONE) {
            newest = older;
        } else {
            entries[newer + OLDER] = older;
        }
        if (older == NONE) {
            oldest = newer;
        } else {
            entries[older + NEWER] = newer;
        }
    }

    /** Where a key is, or the free place where it would be. */
    private int place(int key) {
        int mask = table.length - 1;
        int at = hash(key) & mask;
        while (table[at] != NONE && entries[table[at] + KEY] != key) {
            at = (at + 1) & mask;
        }
        return at;
    }

    /** Fibonacci hashing. */
    private static int hash(int key) {
        int mixed = key * 0x9e3779b9;
        return mixed ^ mixed >>> 15;
    }

    /** Frees a place and moves up those after it that would no longer be found. */
    private void remove(int free) {
        int mask = table.length - 1;
        int hole = free;
        for (int at = (hole + 1) & mask; table[at] != NONE; at = (at + 1) & mask) {
            int wanted = hash(entries[table[at] + KEY]) & mask;
            if (((at - wanted) & mask) >= ((at - hole) & mask)) {
                table[hole] = table[at];
                hole = at;
            }
        }
        table[hole] = NONE;
    }

    private void grow() {
        int[] before = table;
        table = empty(before.length * 2);
        for (int entry : before) {
            if (entry != NONE) {
                table[place(entries[entry + KEY])] = entry;
            }
        }
    }
}
