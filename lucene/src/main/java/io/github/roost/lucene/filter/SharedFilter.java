package io.github.roost.lucene.filter;

import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.ConstantScoreScorerSupplier;
import org.apache.lucene.search.ConstantScoreWeight;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.QueryVisitor;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.Scorer;
import org.apache.lucene.search.ScorerSupplier;
import org.apache.lucene.search.TaskExecutor;
import org.apache.lucene.search.Weight;
import org.apache.lucene.util.BitSetIterator;
import org.apache.lucene.util.FixedBitSet;
import org.jspecify.annotations.Nullable;

/**
 * A filter shared by several searches of one searcher, evaluated once per segment. It lives as long as these searches, and must not be
 * cached. Thread-safe.
 *
 * <p>Searches one after the other evaluate it as they need it. Before searches that run at the same time, call {@link #evaluate};
 * otherwise several of them may do the same evaluation. No thread ever waits for an evaluation by another thread: the filter may itself
 * contain searches that need a worker, and all workers would wait for one that needs them.
 */
public final class SharedFilter extends Query {
    private final Query filter;
    private final AtomicReference<@Nullable Weight> weight = new AtomicReference<>();
    /** Matches found so far, by segment. */
    private final ConcurrentMap<Object, Matches> found = new ConcurrentHashMap<>();

    /**
     * The matching documents of a segment, deleted ones included.
     *
     * @param bits one per document of the segment
     * @param count the number of matches
     */
    public record Matches(FixedBitSet bits, int count) {}

    /**
     * Creates a filter that is not evaluated yet.
     *
     * @param filter the filter
     */
    public SharedFilter(Query filter) {
        this.filter = filter;
    }

    /**
     * Evaluates the filter in all segments.
     *
     * @param searcher the searcher of the searches to come
     * @param executor evaluates segments in parallel
     * @throws IOException if the filter fails
     */
    public void evaluate(IndexSearcher searcher, TaskExecutor executor) throws IOException {
        Weight ready = weight(searcher);
        List<Callable<Matches>> segments = searcher.getIndexReader().leaves().stream()
                .<Callable<Matches>>map(segment -> () -> matchesIn(ready, segment))
                .toList();
        executor.invokeAll(segments);
    }

    /**
     * The matches in a segment, which are evaluated if necessary.
     *
     * @param searcher the searcher of the searches to come
     * @param segment the segment
     * @return its matches
     * @throws IOException if the filter fails
     */
    public Matches matchesIn(IndexSearcher searcher, LeafReaderContext segment) throws IOException {
        return matchesIn(weight(searcher), segment);
    }

    private Matches matchesIn(Weight ready, LeafReaderContext segment) throws IOException {
        Object key = segment.id();
        Matches known = found.get(key);
        if (known == null) {
            Matches evaluated = evaluate(ready, segment);
            Matches before = found.putIfAbsent(key, evaluated);
            known = before == null ? evaluated : before;
        }
        return known;
    }

    private static Matches evaluate(Weight ready, LeafReaderContext segment) throws IOException {
        FixedBitSet bits = new FixedBitSet(segment.reader().maxDoc());
        Scorer scorer = ready.scorer(segment);
        if (scorer != null) {
            DocIdSetIterator matching = scorer.iterator();
            for (int document = matching.nextDoc();
                    document != DocIdSetIterator.NO_MORE_DOCS;
                    document = matching.nextDoc()) {
                bits.set(document);
            }
        }
        return new Matches(bits, bits.cardinality());
    }

    /** The weight of the rewritten filter. Of threads that need it at the same time each rewrites, and one result is kept. */
    private Weight weight(IndexSearcher searcher) throws IOException {
        Weight known = weight.get();
        if (known == null) {
            Weight made = searcher.createWeight(searcher.rewrite(filter), ScoreMode.COMPLETE_NO_SCORES, 1);
            known = weight.compareAndSet(null, made) ? made : Objects.requireNonNull(weight.get());
        }
        return known;
    }

    /** Rewrites the filter, so that the caller's search does so before it divides into segments. Returns this query. */
    @Override
    public Query rewrite(IndexSearcher searcher) throws IOException {
        weight(searcher);
        return this;
    }

    @Override
    public Weight createWeight(IndexSearcher searcher, ScoreMode scoreMode, float boost) throws IOException {
        Weight ready = weight(searcher);
        return new ConstantScoreWeight(this, boost) {
            @Override
            public @Nullable ScorerSupplier scorerSupplier(LeafReaderContext segment) throws IOException {
                Matches matches = matchesIn(ready, segment);
                return matches.count == 0
                        ? null
                        : ConstantScoreScorerSupplier.fromIterator(
                                new BitSetIterator(matches.bits, matches.count),
                                score(),
                                scoreMode,
                                segment.reader().maxDoc());
            }

            @Override
            public boolean isCacheable(LeafReaderContext segment) {
                return false;
            }
        };
    }

    @Override
    public void visit(QueryVisitor visitor) {
        filter.visit(visitor);
    }

    @Override
    public boolean equals(Object other) {
        return sameClassAs(other) && filter.equals(((SharedFilter) other).filter);
    }

    @Override
    public int hashCode() {
        return Objects.hash(classHash(), filter);
    }

    @Override
    public String toString(String field) {
        return "SharedFilter(" + filter.toString(field) + ")";
    }
}
