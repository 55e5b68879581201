package io.github.roost.bench.sim;

import java.util.Arrays;

/**
 * A cache with a size in bytes that forgets what was used longest ago. It holds nodes and blocks, not lines: a search
 * reads a node's lines together, so they come and go together, and a tenth of the entries tell the same. Real caches are
 * set-associative with 8 to 16 ways and hashed sets, whose misses differ from exact LRU by a few per cent. A hash table
 * with linear probing over entries in a list by last use. Not thread-safe.
 */
final class LruCache {
    private static final int NONE = -1;

    private final long capacity;
    private long bytes;
    private int[] keys = new int[64];
    private int[] sizes = new int[64];
    private int[] older = new int[64];
    private int[] newer = new int[64];
    private int newest = NONE;
    private int oldest = NONE;
    private int freeEntry = NONE;
    private int entries;
    /** Entry at each place, or {@link #NONE}. */
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
        if ((entries + 1) * 2 > table.length) {
            grow();
        }
        int entry = freeEntry;
        if (entry == NONE) {
            entry = entries;
            if (entry == keys.length) {
                keys = Arrays.copyOf(keys, 2 * entry);
                sizes = Arrays.copyOf(sizes, 2 * entry);
                older = Arrays.copyOf(older, 2 * entry);
                newer = Arrays.copyOf(newer, 2 * entry);
            }
        } else {
            freeEntry = older[entry];
        }
        entries++;
        keys[entry] = key;
        sizes[entry] = size;
        table[place(key)] = entry;
        linkNewest(entry);
        bytes += size;
    }

    boolean isOverfull() {
        return bytes > capacity;
    }

    /** Size of the oldest, before it is forgotten. */
    int oldestSize() {
        return sizes[oldest];
    }

    /** Forgets the oldest; its key. */
    int forgetOldest() {
        int entry = oldest;
        int key = keys[entry];
        unlink(entry);
        bytes -= sizes[entry];
        remove(place(key));
        older[entry] = freeEntry;
        freeEntry = entry;
        entries--;
        return key;
    }

    private void linkNewest(int entry) {
        older[entry] = newest;
        newer[entry] = NONE;
        if (newest == NONE) {
            oldest = entry;
        } else {
            newer[newest] = entry;
        }
        newest = entry;
    }

    private void unlink(int entry) {
        if (newer[entry] == NONE) {
            newest = older[entry];
        } else {
            older[newer[entry]] = older[entry];
        }
        if (older[entry] == NONE) {
            oldest = newer[entry];
        } else {
            newer[older[entry]] = newer[entry];
        }
    }

    /** Where a key is, or the free place where it would be. */
    private int place(int key) {
        int mask = table.length - 1;
        int at = hash(key) & mask;
        while (table[at] != NONE && keys[table[at]] != key) {
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
            int wanted = hash(keys[table[at]]) & mask;
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
                table[place(keys[entry])] = entry;
            }
        }
    }
}
