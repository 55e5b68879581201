package io.github.roost.simulator;

import java.util.Arrays;

/**
 * An LRU cache with a capacity in bytes. Its entries are nodes and blocks, not cache lines: a search reads a node's
 * lines together, so they enter and leave together, and a tenth of the entries gives the same result. Real caches are
 * set-associative with 8 to 16 ways and hashed sets; their misses differ from exact LRU by a few per cent.
 * Implementation: a hash table with linear probing, whose entries are also in a list by last use; an entry's fields are
 * adjacent, since simulating a large cache is itself bound by cache misses. Not thread-safe.
 */
final class LruCache {
    private static final int NONE = -1;
    /** Ints per entry, and the offsets of its fields. */
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
    /** The offset of the entry in each place, or {@link #NONE}. */
    private int[] table = empty(256);

    LruCache(long capacity) {
        this.capacity = capacity;
    }

    private static int[] empty(int places) {
        int[] table = new int[places];
        Arrays.fill(table, NONE);
        return table;
    }

    /** Whether the key is cached; if so, it becomes the newest entry. */
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
     * Adds a key that is not cached as the newest entry. Does not evict: call {@link #forgetOldest} while
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

    /** Size of the oldest entry. */
    int oldestSize() {
        return entries[oldest + SIZE];
    }

    /** Evicts the oldest entry; returns its key. */
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

    /** The place of a key, or the free place where it would be inserted. */
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

    /** Frees a place, and moves later entries up that the gap would make unreachable. */
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
