package io.github.roost.index.ivf;

import java.util.Arrays;

/** Selection by partitions (Hoare, 1961), which gives up to sorting where its pivots are bad. */
final class Smallest {
    private static final int MOST_PARTITIONS = 64;

    private Smallest() {}

    /** The value that would be at {@code n} if the values were sorted; changes their order. */
    static int nth(int[] values, int n) {
        int from = 0;
        int to = values.length - 1;
        for (int partitions = 0; from < to; partitions++) {
            if (partitions == MOST_PARTITIONS) {
                Arrays.sort(values, from, to + 1);
                break;
            }
            int pivot = median(values[from], values[(from + to) >>> 1], values[to]);
            int left = from;
            int right = to;
            while (left <= right) {
                while (values[left] < pivot) {
                    left++;
                }
                while (values[right] > pivot) {
                    right--;
                }
                if (left <= right) {
                    int swapped = values[left];
                    values[left++] = values[right];
                    values[right--] = swapped;
                }
            }
            if (n <= right) {
                to = right;
            } else if (n >= left) {
                from = left;
            } else {
                break;
            }
        }
        return values[n];
    }

    private static int median(int a, int b, int c) {
        return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
    }
}
