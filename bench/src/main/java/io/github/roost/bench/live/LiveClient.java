package io.github.roost.bench.live;

import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.testkit.Mixture;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * One client of a live table, which repeats ten operations: one change of a row and nine searches. Every id is changed
 * by only one client, which therefore knows the expected results for its own ids. Used by one thread at a time.
 */
final class LiveClient {
    private static final int OPERATIONS_PER_CHANGE = 10;
    /** Of the nine searches, the number that look for a certain row. */
    private static final int LOOKS_PER_CHANGE = 2;

    private static final int MAX_VIOLATIONS_KEPT = 10;
    /** Relative tolerance for the rounding differences of two float summations of the same squares. */
    private static final float ROUNDING = 1e-3f;

    private final LiveTable table;
    private final Mixture mixture;
    private final int k;
    private final int ef;
    private final int number;
    private final int clients;
    private final SplittableRandom random;
    /** Live rows by id. */
    private final Map<Long, float[]> rows = new HashMap<>();
    /** The ids of the live rows, in no order, for random picks. */
    private final List<Long> alive = new ArrayList<>();

    private final List<String> violations = new ArrayList<>();
    private long nextId;
    private long searches;
    private long changes;
    private long looks;
    private long missed;

    LiveClient(LiveTable table, Mixture mixture, int k, int ef, int number, int clients, SplittableRandom random) {
        this.table = table;
        this.mixture = mixture;
        this.k = k;
        this.ef = ef;
        this.number = number;
        this.clients = clients;
        this.random = random;
        this.nextId = number;
    }

    /** Takes over a row that is in the table already. */
    void own(long id, float[] vector) {
        rows.put(id, vector);
        alive.add(id);
        nextId = Math.max(nextId, id + clients);
    }

    Map<Long, float[]> rows() {
        return rows;
    }

    List<String> violations() {
        return violations;
    }

    long searches() {
        return searches;
    }

    long changes() {
        return changes;
    }

    /** The number of searches for a certain live row. */
    long looks() {
        return looks;
    }

    /** The number of looks that missed a row found by a search of all rows: the effect of the limited ef. */
    long missed() {
        return missed;
    }

    /** Runs until a time by {@link System#nanoTime()}, or until there are too many violations. */
    void runUntil(long end) {
        while (System.nanoTime() < end && violations.size() < MAX_VIOLATIONS_KEPT) {
            change();
            long id = alive.get(random.nextInt(alive.size()));
            look(id, Objects.requireNonNull(rows.get(id), "a live row"));
            for (int i = 1 + LOOKS_PER_CHANGE; i < OPERATIONS_PER_CHANGE; i++) {
                search(mixture.draw(random), k);
            }
        }
    }

    /** Inserts, replaces or removes a row with equal probability, and checks that searches see the change. */
    private void change() {
        changes++;
        int kind = alive.size() < 2 ? 0 : random.nextInt(3);
        if (kind == 0) {
            put(nextId, true);
            alive.add(nextId);
            nextId += clients;
            return;
        }
        int at = random.nextInt(alive.size());
        if (kind == 1) {
            put(alive.get(at), false);
        } else {
            remove(at);
        }
    }

    private void put(long id, boolean isNew) {
        float[] vector = mixture.draw(random);
        if (table.put(id, vector) != isNew) {
            violation("put(" + id + ") says that the id was " + (isNew ? "" : "not ") + "there");
        }
        rows.put(id, vector);
        look(id, vector);
    }

    private void remove(int at) {
        long id = alive.get(at);
        alive.set(at, alive.getLast());
        alive.removeLast();
        float[] vector = Objects.requireNonNull(rows.remove(id), "a live row");
        if (!table.remove(id)) {
            violation("remove(" + id + ") says that the id was not there");
        }
        // Reports ids that are not alive.
        search(vector, k);
    }

    /** Searches for a row at its position, which must be found. */
    private void look(long id, float[] vector) {
        looks++;
        if (holds(search(vector, k), id)) {
            return;
        }
        IdFilter alone = IdFilter.of(other -> other == id);
        if (holds(
                checked(
                        vector,
                        table.search(SearchRequest.of(vector, 1).effort(ef).filter(alone))
                                .join(),
                        1),
                id)) {
            missed++;
        } else {
            violation("id " + id + " is lost: not even a search of all rows finds it");
        }
    }

    private static boolean holds(SearchResult found, long id) {
        for (long other : found.ids()) {
            if (other == id) {
                return true;
            }
        }
        return false;
    }

    private SearchResult search(float[] query, int wanted) {
        searches++;
        SearchResult found = table.search(query, wanted, ef).join();
        if (found.size() != wanted) {
            violation("a search for " + wanted + " found " + found.size());
        }
        return checked(query, found, wanted);
    }

    /** Reports duplicates, rows that are not in the table, and wrong distances. */
    private SearchResult checked(float[] query, SearchResult found, int wanted) {
        Set<Long> distinct = new HashSet<>();
        for (int i = 0; i < found.size(); i++) {
            long id = found.ids()[i];
            if (!distinct.add(id)) {
                violation("id " + id + " was found twice among " + wanted);
            }
            if (id % clients == number) {
                requireSame(id, rows.get(id), query, found.distances()[i]);
            }
        }
        return found;
    }

    private void requireSame(long id, float @Nullable [] vector, float[] query, float distance) {
        if (vector == null) {
            violation("id " + id + " was found after it had been removed");
        } else if (differ(distance, LiveLoad.squaredDistance(query, vector))) {
            violation("id " + id + " was found at " + distance + ", and is at "
                    + LiveLoad.squaredDistance(query, vector));
        }
    }

    static boolean differ(float a, float b) {
        return Math.abs(a - b) > ROUNDING * (1 + Math.abs(b));
    }

    private void violation(String what) {
        violations.add("client " + number + ": " + what);
    }
}
