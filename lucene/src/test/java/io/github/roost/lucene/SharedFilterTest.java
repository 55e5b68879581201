package io.github.roost.lucene;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.lucene.filter.SharedFilter;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.Scorer;
import org.apache.lucene.search.TaskExecutor;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.Weight;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SharedFilterTest {
    private static final int SEGMENTS = 3;
    private static final int DOCUMENTS = 10;

    private final ByteBuffersDirectory directory = new ByteBuffersDirectory();
    private DirectoryReader reader;
    private IndexSearcher searcher;

    @BeforeEach
    void writeEveryFifthDocumentAsAWren() throws IOException {
        try (IndexWriter writer =
                new IndexWriter(directory, new IndexWriterConfig().setMergePolicy(NoMergePolicy.INSTANCE))) {
            for (int i = 0; i < SEGMENTS * DOCUMENTS; i++) {
                Document document = new Document();
                document.add(new StringField("word", i % 5 == 0 ? "wren" : "owl", Field.Store.NO));
                writer.addDocument(document);
                if ((i + 1) % DOCUMENTS == 0) {
                    writer.flush();
                }
            }
        }
        reader = DirectoryReader.open(directory);
        searcher = new IndexSearcher(reader);
        searcher.setQueryCache(null);
    }

    @AfterEach
    void close() throws IOException {
        reader.close();
        directory.close();
    }

    private static CountedFilter wrens() {
        return new CountedFilter(new TermQuery(new Term("word", "wren")));
    }

    private int matchesOf(Query filter) throws IOException {
        Weight weight = searcher.createWeight(searcher.rewrite(filter), ScoreMode.COMPLETE_NO_SCORES, 1);
        int matches = 0;
        for (LeafReaderContext segment : reader.leaves()) {
            Scorer scorer = weight.scorer(segment);
            while (scorer != null && scorer.iterator().nextDoc() < DOCUMENTS) {
                matches++;
            }
        }
        return matches;
    }

    @Test
    void searchesOneAfterTheOtherEvaluateItOncePerSegment() throws IOException {
        CountedFilter filter = wrens();
        SharedFilter shared = new SharedFilter(filter);
        assertThat(matchesOf(shared)).isEqualTo(6);
        assertThat(matchesOf(shared)).isEqualTo(6);
        assertThat(filter.weights()).isEqualTo(1);
        assertThat(filter.evaluations()).isEqualTo(SEGMENTS);
    }

    @Test
    void searchesAtTheSameTimeEvaluateNothingThatWasEvaluatedBefore() throws IOException {
        CountedFilter filter = wrens();
        SharedFilter shared = new SharedFilter(filter);
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            TaskExecutor executor = new TaskExecutor(threads);
            shared.evaluate(searcher, executor);
            List<Callable<Integer>> searches = Stream.generate(() -> (Callable<Integer>) () -> matchesOf(shared))
                    .limit(16)
                    .toList();
            assertThat(executor.invokeAll(searches)).containsOnly(6);
        }
        assertThat(filter.weights()).isEqualTo(1);
        assertThat(filter.evaluations()).isEqualTo(SEGMENTS);
    }

    /** As where the filter contains a search on a worker, and the worker is at a search with the same filter. */
    @Test
    void aFilterThatNeedsTheWorkerOfAnotherSearchWithTheSameFilterDoesNotWaitForEver() throws Exception {
        Thread client = Thread.currentThread();
        try (ExecutorService worker = Executors.newSingleThreadExecutor()) {
            CompletableFuture<SharedFilter> known = new CompletableFuture<>();
            CompletableFuture<Integer> other = known.thenApplyAsync(shared -> matches(shared), worker);
            CountedFilter filter = new CountedFilter(new TermQuery(new Term("word", "wren"))) {
                @Override
                public Query rewrite(IndexSearcher of) throws IOException {
                    if (Thread.currentThread() == client) {
                        other.join();
                    }
                    return super.rewrite(of);
                }
            };
            SharedFilter shared = new SharedFilter(filter);
            known.completeOnTimeout(shared, 50, TimeUnit.MILLISECONDS);
            assertThat(matchesOf(shared)).isEqualTo(6);
            assertThat(other.join()).isEqualTo(6);
        }
    }

    private int matches(Query filter) {
        try {
            return matchesOf(filter);
        } catch (IOException failure) {
            throw new AssertionError(failure);
        }
    }
}
