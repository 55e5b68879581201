package io.github.roost.core.mapping;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The default policy. It extends the paper's {@link HotColdPairing} in two ways. First, an item with more traffic than one domain's fair
 * share is cut into equal pieces of at most that share, each with its own home. Second, items stay at their homes unless a move pays:
 * pieces leave only domains above a target load, and as few bytes as suffice. The target is a little above the largest domain load that
 * {@link LongestFirst} would give. If the target cannot be reached in this way, the policy takes a fresh placement, with its domains
 * renamed so that most traffic stays.
 */
final class StayingPairing implements MappingPolicy {
    /** Maximum ratio of a mapping's largest domain load to the largest of {@link LongestFirst}: less than 5 % above it. */
    private static final double ABOVE_LONGEST_FIRST = 1.049;
    /** Maximum ratio to the largest load of a fresh placement of the pieces; each further per cent of balance moves much more traffic. */
    private static final double ABOVE_FRESH = 1.2;
    /** Hysteresis: an item loses a home only if its traffic falls below this share of the traffic at which it got it. */
    private static final double KEPT_SHARE = .7;

    @Override
    public Mapping next(Mapping current, long[] traffic) {
        if (Arrays.stream(traffic).allMatch(bytes -> bytes == 0)) {
            return current;
        }
        int domains = current.domains();
        Pieces whole = Pieces.whole(current, traffic);
        int[] longestFirst = LongestFirst.assign(traffic, whole.hottestFirst, domains);
        Pieces pieces = Pieces.cut(current, traffic, whole);
        int[] fresh = pieces == whole ? longestFirst : pieces.hottestToLeastLoaded(domains);
        double longestFirstLoad = largest(whole.loads(longestFirst, domains));
        double freshLoad = largest(pieces.loads(fresh, domains));
        double target = Math.min(longestFirstLoad * ABOVE_LONGEST_FIRST, freshLoad * ABOVE_FRESH);

        int[] relieved = pieces.relieve(domains, target);
        if (relieved != null) {
            return pieces.mapping(current, relieved);
        }
        return freshLoad <= longestFirstLoad * ABOVE_LONGEST_FIRST
                ? pieces.mapping(current, pieces.renamed(fresh, domains))
                : whole.mapping(current, whole.renamed(longestFirst, domains));
    }

    private static long largest(long[] loads) {
        return Arrays.stream(loads).max().orElse(0);
    }

    /** The units of placement: items, with hot items cut into pieces. Pieces of one item are consecutive and never share a domain. */
    private static final class Pieces {
        /** The first piece of each item, and at the end the total number of pieces. */
        private final int[] firstOf;

        private final int[] itemOf;
        private final long[] traffic;
        /** The present home of each piece. */
        private final int[] homes;

        private final int[] hottestFirst;

        private Pieces(int[] firstOf, int[] itemOf, long[] traffic, int[] homes, int[] hottestFirst) {
            this.firstOf = firstOf;
            this.itemOf = itemOf;
            this.traffic = traffic;
            this.homes = homes;
            this.hottestFirst = hottestFirst;
        }

        static Pieces whole(Mapping current, long[] traffic) {
            return of(current, traffic, LongestFirst.hottestFirst(traffic), item -> 1);
        }

        /** Cuts hot items into pieces; returns {@code whole} if there are none. */
        static Pieces cut(Mapping current, long[] traffic, Pieces whole) {
            long fairShare = Math.max(1, Math.ceilDiv(Arrays.stream(traffic).sum(), current.domains()));
            long keptShare = Math.max(1, (long) (fairShare * KEPT_SHARE));
            IntUnaryOperator piecesOf = item -> {
                int needed = Math.max(1, Math.toIntExact(Math.ceilDiv(traffic[item], fairShare)));
                long kept = Math.max(needed, Math.ceilDiv(traffic[item], keptShare));
                return Math.toIntExact(Math.clamp(current.homeCount(item), needed, kept));
            };
            boolean nothingToCut = IntStream.range(0, traffic.length).allMatch(item -> piecesOf.applyAsInt(item) == 1);
            return nothingToCut ? whole : of(current, traffic, whole.hottestFirst, piecesOf);
        }

        private static Pieces of(Mapping current, long[] traffic, int[] hottestItems, IntUnaryOperator piecesOf) {
            int[] firstOf = new int[traffic.length + 1];
            for (int item = 0; item < traffic.length; item++) {
                firstOf[item + 1] = firstOf[item] + piecesOf.applyAsInt(item);
            }
            int[] itemOf = new int[firstOf[traffic.length]];
            long[] pieceTraffic = new long[itemOf.length];
            int[] homes = new int[itemOf.length];
            for (int item = 0; item < traffic.length; item++) {
                int pieces = firstOf[item + 1] - firstOf[item];
                for (int piece = firstOf[item]; piece < firstOf[item + 1]; piece++) {
                    itemOf[piece] = item;
                    pieceTraffic[piece] = Math.ceilDiv(traffic[item], pieces);
                    homes[piece] = current.home(item, Math.min(piece - firstOf[item], current.homeCount(item) - 1));
                }
            }
            return new Pieces(firstOf, itemOf, pieceTraffic, homes, order(hottestItems, firstOf, pieceTraffic));
        }

        /** Returns the pieces by traffic descending: sorts the few pieces of cut items, and merges them into the order of whole items. */
        private static int[] order(int[] hottestItems, int[] firstOf, long[] traffic) {
            Integer[] ofCutItems = IntStream.range(0, hottestItems.length)
                    .filter(item -> firstOf[item + 1] - firstOf[item] > 1)
                    .flatMap(item -> IntStream.range(firstOf[item], firstOf[item + 1]))
                    .boxed()
                    .sorted(Comparator.comparingLong((Integer piece) -> -traffic[piece]))
                    .toArray(Integer[]::new);
            int[] order = new int[traffic.length];
            int placed = 0;
            int nextCut = 0;
            for (int item : hottestItems) {
                int piece = firstOf[item];
                if (firstOf[item + 1] - piece > 1) {
                    continue;
                }
                while (nextCut < ofCutItems.length && traffic[ofCutItems[nextCut]] >= traffic[piece]) {
                    order[placed++] = ofCutItems[nextCut++];
                }
                order[placed++] = piece;
            }
            while (nextCut < ofCutItems.length) {
                order[placed++] = ofCutItems[nextCut++];
            }
            return order;
        }

        long[] loads(int[] placement, int domains) {
            long[] loads = new long[domains];
            for (int piece = 0; piece < placement.length; piece++) {
                loads[placement[piece]] += traffic[piece];
            }
            return loads;
        }

        /** Places pieces by the rule of {@link LongestFirst}, with pieces of one item in different domains. */
        int[] hottestToLeastLoaded(int domains) {
            int[] placement = new int[traffic.length];
            Arrays.fill(placement, -1);
            long[] loads = new long[domains];
            for (int piece : hottestFirst) {
                int home = leastLoaded(piece, placement, loads);
                placement[piece] = home;
                loads[home] += traffic[piece];
            }
            return placement;
        }

        private int leastLoaded(int piece, int[] placement, long[] loads) {
            int best = -1;
            for (int domain = 0; domain < loads.length; domain++) {
                if ((best < 0 || loads[domain] < loads[best]) && !siblingLivesIn(piece, domain, placement)) {
                    best = domain;
                }
            }
            return best;
        }

        private boolean siblingLivesIn(int piece, int domain, int[] placement) {
            int item = itemOf[piece];
            for (int sibling = firstOf[item]; sibling < firstOf[item + 1]; sibling++) {
                if (sibling != piece && placement[sibling] == domain) {
                    return true;
                }
            }
            return false;
        }

        /** Returns the present placement with the fewest moves found that bring every domain to the target; null if that fails. */
        int @Nullable [] relieve(int domains, double target) {
            int[] placement = apart(domains);
            long[] loads = loads(placement, domains);
            List<List<Integer>> crowded = new ArrayList<>();
            for (int domain = 0; domain < domains; domain++) {
                crowded.add(new ArrayList<>());
            }
            for (int piece : hottestFirst) {
                if (loads[placement[piece]] > target && traffic[piece] > 0) {
                    crowded.get(placement[piece]).add(piece);
                }
            }
            for (int from = 0; from < domains; from++) {
                while (loads[from] > target) {
                    Move move = cheapestMove(crowded.get(from), loads[from] - target, placement, loads, target);
                    if (move == null) {
                        return null;
                    }
                    crowded.get(from).remove(move.index);
                    placement[move.piece] = move.to;
                    loads[from] -= traffic[move.piece];
                    loads[move.to] += traffic[move.piece];
                }
            }
            return placement;
        }

        /** Returns the present placement, with pieces that share a domain with a sibling moved to the least loaded domain without one. */
        private int[] apart(int domains) {
            int[] placement = homes.clone();
            long[] loads = loads(placement, domains);
            for (int piece = 0; piece < placement.length; piece++) {
                if (siblingLivesIn(piece, placement[piece], placement)) {
                    int home = leastLoaded(piece, placement, loads);
                    loads[placement[piece]] -= traffic[piece];
                    loads[home] += traffic[piece];
                    placement[piece] = home;
                }
            }
            return placement;
        }

        private record Move(int index, int piece, int to) {}

        /** Returns the smallest piece that alone removes the excess of its domain, otherwise the largest that fits into another domain. */
        private @Nullable Move cheapestMove(
                List<Integer> hottestFirst, double excess, int[] placement, long[] loads, double target) {
            Move best = null;
            for (int index = 0; index < hottestFirst.size(); index++) {
                int piece = hottestFirst.get(index);
                if (traffic[piece] < excess && best != null) {
                    return best;
                }
                int to = leastLoaded(piece, placement, loads);
                if (to >= 0 && loads[to] + traffic[piece] <= target) {
                    best = new Move(index, piece, to);
                    if (traffic[piece] < excess) {
                        return best;
                    }
                }
            }
            return best;
        }

        /** Renames the groups of a placement: each gets the domain that already has most of its traffic. */
        int[] renamed(int[] groups, int domains) {
            long[][] shared = new long[domains][domains];
            for (int piece = 0; piece < groups.length; piece++) {
                shared[groups[piece]][homes[piece]] += traffic[piece];
            }
            record Pair(int group, int domain, long bytes) {}
            List<Pair> pairs = new ArrayList<>();
            for (int group = 0; group < domains; group++) {
                for (int domain = 0; domain < domains; domain++) {
                    pairs.add(new Pair(group, domain, shared[group][domain]));
                }
            }
            pairs.sort(Comparator.comparingLong(Pair::bytes).reversed());
            int[] nameOf = new int[domains];
            Arrays.fill(nameOf, -1);
            boolean[] taken = new boolean[domains];
            for (Pair pair : pairs) {
                if (nameOf[pair.group] < 0 && !taken[pair.domain]) {
                    nameOf[pair.group] = pair.domain;
                    taken[pair.domain] = true;
                }
            }
            return Arrays.stream(groups).map(group -> nameOf[group]).toArray();
        }

        Mapping mapping(Mapping current, int[] placement) {
            Mapping.Editor editor = current.edit(current.slots());
            for (int item = 0; item + 1 < firstOf.length; item++) {
                if (firstOf[item + 1] - firstOf[item] == 1) {
                    editor.home(item, placement[firstOf[item]]);
                } else {
                    editor.homes(item, Arrays.copyOfRange(placement, firstOf[item], firstOf[item + 1]));
                }
            }
            return editor.build();
        }
    }
}
