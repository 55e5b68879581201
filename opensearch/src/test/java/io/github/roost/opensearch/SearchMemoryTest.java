package io.github.roost.opensearch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.lucene.RoostCodec;
import java.io.IOException;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;
import org.junit.jupiter.api.Test;
import org.opensearch.core.common.breaker.CircuitBreaker;
import org.opensearch.core.common.breaker.CircuitBreakingException;

class SearchMemoryTest {
    private static final long LIMIT = 1_000;

    @Test
    void copiesOfGraphsAreCountedWhileTheirSegmentsAreOpenAndLeaveSearchesTheirLimit() throws IOException {
        Breaker breaker = new Breaker();
        SearchMemory memory = new SearchMemory();
        memory.breaker(breaker);
        try (Directory unmapped = new ByteBuffersDirectory()) {
            try (IndexWriter writer = new IndexWriter(unmapped, new IndexWriterConfig().setCodec(new RoostCodec()))) {
                for (int i = 0; i < 1_200; i++) {
                    Document document = new Document();
                    document.add(new KnnFloatVectorField("v", new float[] {i, i % 7, 1}));
                    writer.addDocument(document);
                }
                writer.forceMerge(1);
            }
            try (DirectoryReader reader = DirectoryReader.open(unmapped)) {
                assertThat(reader.leaves()).hasSize(1);
                memory.take(LIMIT);
                assertThat(breaker.used).isGreaterThan(LIMIT + 1_200 * 3);
                assertThat(breaker.used).isEqualTo(memory.countCopies() + LIMIT);
                assertThatThrownBy(() -> memory.take(1)).isInstanceOf(CircuitBreakingException.class);
                memory.limit(LIMIT + 1);
                memory.take(1);
                memory.giveBack(LIMIT + 1);
            }
        }
        assertThat(memory.countCopies()).isZero();
        assertThat(breaker.used).isZero();
        assertThat(breaker.limit).isEqualTo(LIMIT + 1);
    }

    /** Counts as OpenSearch's breakers do. */
    private static final class Breaker implements CircuitBreaker {
        private long used;
        private long limit = LIMIT;

        @Override
        public void circuitBreak(String name, long bytesNeeded) {
            throw new CircuitBreakingException(name, bytesNeeded, limit, Durability.TRANSIENT);
        }

        @Override
        public double addEstimateBytesAndMaybeBreak(long bytes, String label) {
            if (used + bytes > limit) {
                circuitBreak(label, used + bytes);
            }
            used += bytes;
            return used;
        }

        @Override
        public long addWithoutBreaking(long bytes) {
            used += bytes;
            return used;
        }

        @Override
        public long getUsed() {
            return used;
        }

        @Override
        public long getLimit() {
            return limit;
        }

        @Override
        public double getOverhead() {
            return 1;
        }

        @Override
        public long getTrippedCount() {
            return 0;
        }

        @Override
        public String getName() {
            return "roost";
        }

        @Override
        public Durability getDurability() {
            return Durability.TRANSIENT;
        }

        @Override
        public void setLimitAndOverhead(long bytes, double overhead) {
            limit = bytes;
        }
    }
}
