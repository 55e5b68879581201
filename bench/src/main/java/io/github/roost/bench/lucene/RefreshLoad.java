package io.github.roost.bench.lucene;

import io.github.roost.lucene.RoostCodec;
import io.github.roost.lucene.SearchEffort;
import io.github.roost.simulator.measure.Latencies;
import io.github.roost.testkit.TemporaryFolder;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.apache.lucene.codecs.Codec;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.SearcherManager;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;

/**
 * Adds documents to new indexes, with Lucene's default settings except for the vector format.
 *
 * @param rows the vectors of the documents
 * @param queries at least one
 */
record RefreshLoad(float[][] rows, float[][] queries) {
    private static final String FIELD = "vector";
    private static final int K = 10;
    private static final int WIDTH = 40;
    private static final int SEARCHES_PER_SECOND = 50;
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final long LONGEST_NANOS = 600 * SECOND;

    /** A vector format. */
    enum Contender {
        /** Roost's. */
        ROOST,
        /** The one of Lucene's default codec. */
        LUCENE;

        private Codec codec() {
            return this == ROOST ? new RoostCodec() : Codec.getDefault();
        }

        /** Lucene's format has no width beside the number of hits. */
        private Query query(float[] vector) {
            return this == ROOST
                    ? new KnnFloatVectorQuery(FIELD, vector, K, null, new SearchEffort(WIDTH))
                    : new KnnFloatVectorQuery(FIELD, vector, WIDTH);
        }
    }

    /**
     * What a run measures.
     *
     * @param seconds the time of all adds
     */
    record Refreshed(Histogram refreshes, Histogram searches, double seconds) {
        Refreshed() {
            this(new Histogram(LONGEST_NANOS, 3), new Histogram(LONGEST_NANOS, 3), 0);
        }

        Latencies refresh() {
            return Latencies.ofNanos(refreshes);
        }
    }

    /** Adds documents as fast as one thread can; returns the seconds until all merges have ended. */
    double index(Contender contender, int count) throws IOException {
        try (TemporaryFolder folder = new TemporaryFolder("roost-refresh");
                Directory directory = new MMapDirectory(folder.path())) {
            long began = System.nanoTime();
            try (IndexWriter writer = writer(contender, directory)) {
                for (int row = 0; row < count; row++) {
                    writer.addDocument(document(row));
                }
            }
            return (System.nanoTime() - began) / (double) SECOND;
        }
    }

    /** Adds documents at a rate in one thread, searches in another, and refreshes once per second. */
    Refreshed refresh(Contender contender, int count, int perSecond) throws IOException, InterruptedException {
        try (TemporaryFolder folder = new TemporaryFolder("roost-refresh");
                Directory directory = new MMapDirectory(folder.path())) {
            IndexWriter writer = writer(contender, directory);
            Refreshed measured = new Refreshed();
            try (SearcherManager searchers = new SearcherManager(writer, null)) {
                CompletableFuture<Double> added = inThread("adds", () -> add(writer, count, perSecond));
                CompletableFuture<Double> searched = inThread("searches", () -> {
                    for (long due = System.nanoTime(), i = 0;
                            !added.isDone();
                            due += SECOND / SEARCHES_PER_SECOND, i++) {
                        sleepUntil(due);
                        search(searchers, contender.query(queries[(int) (i % queries.length)]), measured.searches());
                    }
                    return 0.0;
                });
                boolean last = false;
                for (long due = System.nanoTime() + SECOND; !last; due += SECOND) {
                    sleepUntil(due);
                    last = added.isDone();
                    long began = System.nanoTime();
                    searchers.maybeRefreshBlocking();
                    measured.refreshes().recordValue(System.nanoTime() - began);
                }
                searched.join();
                return new Refreshed(measured.refreshes(), measured.searches(), added.join());
            } catch (CompletionException failure) {
                throw new IOException("the run of " + contender + " failed", failure.getCause());
            } finally {
                // Without waiting for merges that still run.
                writer.rollback();
            }
        }
    }

    private double add(IndexWriter writer, int count, int perSecond) throws IOException {
        long began = System.nanoTime();
        for (int row = 0; row < count; row++) {
            sleepUntil(began + row * SECOND / perSecond);
            writer.addDocument(document(row));
        }
        return (System.nanoTime() - began) / (double) SECOND;
    }

    private static void search(SearcherManager searchers, Query query, Histogram nanos) throws IOException {
        IndexSearcher searcher = searchers.acquire();
        try {
            // All queries differ: a cache would only fill up.
            searcher.setQueryCache(null);
            long began = System.nanoTime();
            searcher.search(query, K);
            nanos.recordValue(System.nanoTime() - began);
        } finally {
            searchers.release(searcher);
        }
    }

    private static void sleepUntil(long due) {
        for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private interface Work {
        double run() throws IOException;
    }

    private static CompletableFuture<Double> inThread(String name, Work work) {
        Executor thread =
                task -> Thread.ofPlatform().name("roost-bench-" + name).start(task);
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return work.run();
                    } catch (IOException failure) {
                        throw new CompletionException(failure);
                    }
                },
                thread);
    }

    private static IndexWriter writer(Contender contender, Directory directory) throws IOException {
        return new IndexWriter(directory, new IndexWriterConfig().setCodec(contender.codec()));
    }

    private Document document(int row) {
        Document document = new Document();
        document.add(new KnnFloatVectorField(FIELD, rows[row], VectorSimilarityFunction.DOT_PRODUCT));
        return document;
    }
}
