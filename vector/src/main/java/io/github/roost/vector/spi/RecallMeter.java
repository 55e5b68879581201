package io.github.roost.vector.spi;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorClosedException;
import io.github.roost.core.Registration;
import io.github.roost.core.SearchContext;
import io.github.roost.core.TableClosedException;
import io.github.roost.core.spi.Indexing;
import io.github.roost.core.spi.Indexing.RecallRule;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Measures the recall of a table's searches: now and then one is repeated exactly, as maintenance on an idle worker. After each repetition
 * the meter pauses for so long that all tables together use no more than their share of the workers' time; until then a search costs at most a
 * look at the clock. One repetition at a time is under way or waiting. Searches with a filter are not repeated, since a filter may call code of the user. Thread-safe.
 */
final class RecallMeter {
    /** Tables of fewer rows are not measured: a search of them reads most rows. */
    static final int LEAST_ROWS = 1_000;
    /** The pause before the first repetition: one-shot programs are over by then. */
    static final long FIRST_PAUSE_NANOS = 1_000_000_000;

    private static final Logger LOG = LoggerFactory.getLogger(RecallMeter.class);
    private static final long LEAST_PAUSE_NANOS = 10_000_000;
    /** After a repetition that gave way to searches: the workers are busy. */
    private static final long FAILED_PAUSE_NANOS = 1_000_000_000;

    private static final long LARGEST_PAUSE_NANOS = 3_600_000_000_000L;
    /** A repetition that has waited longer is skipped: the workers are busy. */
    private static final long PATIENCE_NANOS = 1_000_000_000;
    /** One of so many searches after a pause is repeated, chosen at random: the first of a batch is not a random one. */
    private static final int ONE_OF = 8;
    /** Rows per change between a search and its repetition: so few changes alter the recall by about a thousandth at most. */
    private static final int ROWS_PER_CHANGE = 1_000;

    private final Orchestrator orchestrator;
    private final Registration registration;
    private final RecallRule rule;
    private final IntSupplier rows;
    private final LongSupplier changes;
    private final BiFunction<SearchRequest, SearchContext, SearchResult> exact;
    private final RecallEfforts efforts;
    private final LongSupplier clock;
    /** Whether a search is chosen and not yet repeated, so that no other may be; for ever if the meter is off or the table closed. */
    private final AtomicBoolean taken;
    /** The time until which none is chosen; written before {@code taken} is cleared. */
    private volatile long pausedUntil;

    /** Guarded by this. */
    private final RecallWindow window = new RecallWindow();

    private long samples;
    private boolean alarm;

    /**
     * A search to be repeated.
     *
     * @param changes changes of the table before the search
     * @param rows rows of the table then
     * @param factor the correction of its effort
     */
    private record Sample(SearchRequest request, long changes, int rows, double factor) {}

    /**
     * @param rows returns the number of rows
     * @param changes returns the number of changes so far
     * @param exact searches exactly, as {@link AbstractVectorTable#exact}
     * @param efforts told the recall of searches with a target
     * @param clock nanoseconds
     */
    RecallMeter(
            Orchestrator orchestrator,
            Registration registration,
            IntSupplier rows,
            LongSupplier changes,
            BiFunction<SearchRequest, SearchContext, SearchResult> exact,
            RecallEfforts efforts,
            LongSupplier clock) {
        this.orchestrator = orchestrator;
        this.registration = registration;
        this.rule = orchestrator.indexing().recallRule();
        this.rows = rows;
        this.changes = changes;
        this.exact = exact;
        this.efforts = efforts;
        this.clock = clock;
        this.taken = new AtomicBoolean(rule.share() == 0);
        // No timer: a timer of the JDK would keep the table's classes reachable after it has been closed.
        this.pausedUntil = clock.getAsLong() + FIRST_PAUSE_NANOS;
    }

    /** The time until which no search is chosen; later after each repetition. */
    long pausedUntil() {
        return pausedUntil;
    }

    /** Forgets the recall, because the rows have been replaced. */
    synchronized void clear() {
        window.clear();
        registration.recall(null);
    }

    // ---- Choosing a search.

    /** Returns the future to hand out for a search that has been submitted. */
    CompletableFuture<SearchResult> watch(SearchRequest request, CompletableFuture<SearchResult> search) {
        if (!takes(request)) {
            return search;
        }
        Sample sample = sample(request);
        CompletableFuture<SearchResult> answer = orchestrator.indexing().newFuture();
        var _ = search.whenComplete((found, failure) -> {
            try {
                // Before the caller can change the result.
                repeat(sample, failure == null ? found : null);
            } finally {
                if (failure == null) {
                    answer.complete(found);
                } else {
                    answer.completeExceptionally(failure);
                }
            }
        });
        var _ = answer.whenComplete((found, failure) -> search.cancel(false));
        return answer;
    }

    /** As {@link #watch}, for several searches. */
    List<CompletableFuture<SearchResult>> watchAll(
            List<SearchRequest> requests, List<CompletableFuture<SearchResult>> searches) {
        if (!isDue()) {
            return searches;
        }
        List<CompletableFuture<SearchResult>> answers = new ArrayList<>(searches);
        for (int i = 0; i < answers.size(); i++) {
            answers.set(i, watch(requests.get(i), answers.get(i)));
        }
        return answers;
    }

    /** Takes the result of a search that has just ended in this thread. */
    SearchResult searched(SearchRequest request, SearchResult found) {
        if (takes(request)) {
            repeat(sample(request), found);
        }
        return found;
    }

    private boolean takes(SearchRequest request) {
        // The cheapest first: most searches do not look at the clock.
        return ThreadLocalRandom.current().nextInt(ONE_OF) == 0
                && isDue()
                && request.filter() == IdFilter.all()
                && rows.getAsInt() >= LEAST_ROWS
                && taken.compareAndSet(false, true);
    }

    private boolean isDue() {
        return !taken.get() && clock.getAsLong() - pausedUntil >= 0;
    }

    private Sample sample(SearchRequest request) {
        return new Sample(request, changes.getAsLong(), rows.getAsInt(), efforts.factor(request));
    }

    // ---- Repeating it.

    private void repeat(Sample sample, @Nullable SearchResult found) {
        if (found == null
                || found.cutShort()
                || found.cost().damagedPages() + found.cost().missingPartitions() > 0) {
            taken.set(false);
            return;
        }
        long[] ids = found.ids().clone();
        float[] distances = found.distances().clone();
        long asked = clock.getAsLong();
        Indexing.Maintenance repetition = context -> {
            if (clock.getAsLong() - asked > PATIENCE_NANOS) {
                pause(0, FAILED_PAUSE_NANOS);
            } else {
                repeat(sample, ids, distances, context);
            }
            return false;
        };
        // Not in this thread: a worker that submits maintenance while tasks wait for it is replaced by a fresh thread.
        Thread.ofVirtual().name("roost-recall").start(() -> {
            try {
                var _ = orchestrator.indexing().maintenance(registration.id(0), repetition);
            } catch (TableClosedException | OrchestratorClosedException closed) {
                LOG.debug("a search of table {} was not repeated", registration.name(), closed);
            }
        });
    }

    private void repeat(Sample sample, long[] ids, float[] distances, SearchContext context) {
        IdleScan scan = new IdleScan(
                clock, orchestrator.indexing()::yieldToSearches, () -> !registration.isOpen() || context.expired());
        long least = FAILED_PAUSE_NANOS;
        try {
            SearchResult truth = exact.apply(
                            sample.request(), SearchContext.outside((nodes, bytes) -> {}, scan::isOver))
                    .within(sample.request().radius());
            least = LEAST_PAUSE_NANOS;
            if (truth.size() > 0 && isFair(sample)) {
                add(sample, recall(ids, distances, truth));
            }
        } catch (RuntimeException failed) {
            // In most cases because it gave way to searches.
            LOG.debug("a search of table {} was not repeated", registration.name(), failed);
        } finally {
            pause(scan.ownNanos(), least);
        }
    }

    /** Whether so few rows have changed since the search that they hardly change its recall. */
    private boolean isFair(Sample sample) {
        int now = rows.getAsInt();
        long changed = changes.getAsLong() - sample.changes() + Math.abs(now - sample.rows());
        return changed <= now / ROWS_PER_CHANGE;
    }

    /** The share of the true rows that were found; a row as near as the farthest of them counts as well. */
    private static double recall(long[] ids, float[] distances, SearchResult truth) {
        float reach = truth.distances()[truth.size() - 1];
        long[] sorted = truth.ids().clone();
        Arrays.sort(sorted);
        int hits = 0;
        for (int i = 0; i < ids.length; i++) {
            hits += distances[i] <= reach || Arrays.binarySearch(sorted, ids[i]) >= 0 ? 1 : 0;
        }
        return Math.min(1, (double) hits / truth.size());
    }

    /** Begins a pause after a repetition, so long that as many tables as there are now keep within their share of all workers' time. */
    private void pause(long ownNanos, long least) {
        double share =
                rule.share() * orchestrator.workers() / orchestrator.indexing().tables();
        pausedUntil = clock.getAsLong() + Math.clamp((long) (ownNanos / share), least, LARGEST_PAUSE_NANOS);
        taken.set(false);
    }

    // ---- Reporting.

    private void add(Sample sample, double recall) {
        efforts.measured(sample.request(), sample.factor(), recall);
        synchronized (this) {
            window.add(recall, sample.request().k());
            samples++;
            double mean = window.mean();
            double high = window.high();
            boolean before = alarm;
            alarm = alarm ? mean < rule.alarm() : window.size() >= RecallWindow.LEAST && high < rule.alarm();
            Registration.Recall measured = new Registration.Recall(
                    mean, window.low(), high, window.size(), samples, window.meanNeighbors(), alarm);
            registration.recall(measured);
            if (alarm != before) {
                tell(measured);
            }
        }
    }

    private void tell(Registration.Recall measured) {
        String table = registration.name();
        if (!measured.alarm()) {
            LOG.info("the recall of table {} is back at {}", table, rounded(measured.recall()));
            return;
        }
        LOG.warn(
                "the recall of table {} is {}, at most {} with 95 % confidence, and so below the alarm level {}: its last {} measured searches missed"
                        + " nearest rows; raise their effort, or set a target recall",
                table, rounded(measured.recall()), rounded(measured.high()), rule.alarm(), measured.window());
        RecallAlarmEvent event = new RecallAlarmEvent();
        event.table = table;
        event.recall = measured.recall();
        event.high = measured.high();
        event.level = rule.alarm();
        event.commit();
    }

    private static double rounded(double recall) {
        return Math.round(recall * 1_000) / 1_000.;
    }
}
