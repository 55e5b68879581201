package io.github.roost.core.mapping;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * The longest processing time rule of multiprocessor scheduling (Graham, SIAM J. Appl. Math. 17(2), 1969): items by traffic descending,
 * each to the domain with the least load so far. Ties: items by id ascending, domains by index ascending. The largest load is at most 4/3
 * of the optimum. Stateless.
 */
final class LongestFirst implements MappingPolicy {
    @Override
    public Mapping next(Mapping current, long[] traffic) {
        return Mapping.of(current.domains(), assign(traffic, current.domains()));
    }

    /**
     * Assigns items to domains.
     *
     * @param traffic the traffic of each item, not negative, with a sum below 2<sup>63</sup>
     * @param domains the number of domains, at least 1
     * @return one domain per item, in the order of the items
     */
    static int[] assign(long[] traffic, int domains) {
        requireValid(traffic, domains);
        return assign(traffic, hottestFirst(traffic), domains);
    }

    /** Like {@link #assign(long[], int)} for items that are already ordered. */
    static int[] assign(long[] traffic, int[] hottestFirst, int domains) {
        long[] loads = noLoads(traffic.length, domains);
        int[] homes = new int[traffic.length];
        for (int item : hottestFirst) {
            int least = leastLoaded(loads);
            homes[item] = least;
            loads[least] += traffic[item];
        }
        return homes;
    }

    /** Returns zero loads for the domains that can get an item: if there are more domains than items, the last ones stay empty. */
    static long[] noLoads(int items, int domains) {
        return new long[Math.min(domains, Math.max(1, items))];
    }

    /** Returns the first domain with the least load. */
    static int leastLoaded(long[] loads) {
        int least = 0;
        for (int domain = 1; domain < loads.length; domain++) {
            least = loads[domain] < loads[least] ? domain : least;
        }
        return least;
    }

    static void requireValid(long[] traffic, int domains) {
        if (domains < 1) {
            throw new IllegalArgumentException("domains must be at least 1, got " + domains);
        }
        long sum = 0;
        for (int item = 0; item < traffic.length; item++) {
            if (traffic[item] < 0) {
                throw new IllegalArgumentException(
                        "traffic of item " + item + " must not be negative, got " + traffic[item]);
            }
            sum += traffic[item];
            if (sum < 0) {
                throw new IllegalArgumentException("the sum of all traffic must be below 2^63, passed it at item "
                        + item + " with " + traffic[item]);
            }
        }
    }

    /** Returns the items by traffic descending, then id ascending. */
    static int[] hottestFirst(long[] traffic) {
        long hottest = Arrays.stream(traffic).max().orElse(0);
        int idBits = Integer.SIZE - Integer.numberOfLeadingZeros(Math.max(1, traffic.length - 1));
        int trafficBits = Long.SIZE - Long.numberOfLeadingZeros(hottest);
        if (idBits + trafficBits >= Long.SIZE) {
            return IntStream.range(0, traffic.length)
                    .boxed()
                    .sorted(Comparator.comparingLong((Integer item) -> -traffic[item]))
                    .mapToInt(Integer::intValue)
                    .toArray();
        }
        // Both keys in one long: sorting primitives keeps 131,072 ids within a few milliseconds.
        long[] keys = new long[traffic.length];
        for (int item = 0; item < keys.length; item++) {
            keys[item] = (hottest - traffic[item]) << idBits | item;
        }
        Arrays.sort(keys);
        int[] order = new int[keys.length];
        for (int i = 0; i < order.length; i++) {
            order[i] = (int) (keys[i] & ((1L << idBits) - 1));
        }
        return order;
    }
}
