package io.github.roost.index.disk.format;

import java.util.Arrays;
import java.util.BitSet;
import java.util.function.IntPredicate;
import java.util.function.IntUnaryOperator;

/**
 * Finds equal ones among many numbered items, such as rows, of which few have equals: a filter of some bits per item drops most of the
 * others, and what is left is sorted by hash. Stateless.
 */
public final class EqualItems {
    private static final int BITS_PER_ITEM = 8;
    private static final int MIN_BITS = 64;
    private static final int MAX_BITS = 1 << 30;

    private EqualItems() {}

    /** A pair of numbers. */
    @FunctionalInterface
    public interface Pairs {
        void accept(int one, int other);
    }

    /** Whether a pair of items is equal. */
    @FunctionalInterface
    public interface Equality {
        boolean test(int one, int other);
    }

    /**
     * Calls {@code joined} so that each item that is equal to others is the first of exactly one pair, but one item of them, and the second was
     * met before.
     *
     * @param count number of items
     * @param isUsed whether an item counts
     * @param hash equal for equal items
     */
    public static void find(int count, IntPredicate isUsed, IntUnaryOperator hash, Equality isEqual, Pairs joined) {
        long[] suspects = suspects(count, isUsed, hash);
        Arrays.sort(suspects);
        for (int begin = 0, end; begin < suspects.length; begin = end) {
            end = begin + 1;
            while (end < suspects.length && hash(suspects[end]) == hash(suspects[begin])) {
                end++;
            }
            join(suspects, begin, end, isEqual, joined);
        }
    }

    /** Joins the equal ones of items of one hash. */
    private static void join(long[] suspects, int begin, int end, Equality isEqual, Pairs joined) {
        int left = begin;
        while (left < end) {
            int first = (int) suspects[left];
            int differing = left + 1;
            for (int i = left + 1; i < end; i++) {
                if (isEqual.test(first, (int) suspects[i])) {
                    long moved = suspects[differing];
                    suspects[differing] = suspects[i];
                    suspects[i] = moved;
                    joined.accept((int) suspects[differing], (int) suspects[differing - 1]);
                    differing++;
                }
            }
            left = differing;
        }
    }

    private static int hash(long suspect) {
        return (int) (suspect >>> Integer.SIZE);
    }

    /** The hash and the number of each item whose hash may be another one's as well. */
    private static long[] suspects(int count, IntPredicate isUsed, IntUnaryOperator hash) {
        int bits = (int) Math.min(MAX_BITS, Long.highestOneBit(Math.max(MIN_BITS, (long) BITS_PER_ITEM * count)));
        BitSet once = new BitSet(bits);
        BitSet again = new BitSet();
        for (int item = 0; item < count; item++) {
            if (isUsed.test(item)) {
                int bit = bit(hash.applyAsInt(item), bits);
                if (once.get(bit)) {
                    again.set(bit);
                }
                once.set(bit);
            }
        }
        long[] all = new long[MIN_BITS];
        int size = 0;
        for (int item = 0; item < count; item++) {
            int itsHash = hash.applyAsInt(item);
            if (again.get(bit(itsHash, bits)) && isUsed.test(item)) {
                if (size == all.length) {
                    all = Arrays.copyOf(all, 2 * size);
                }
                all[size++] = (long) itsHash << Integer.SIZE | item;
            }
        }
        return Arrays.copyOf(all, size);
    }

    /** By the high bits of a product, as hashes of arrays differ in low bits first. */
    private static int bit(int hash, int bits) {
        int mixed = hash * 0x9E3779B9;
        return (mixed ^ mixed >>> 15) & (bits - 1);
    }
}
