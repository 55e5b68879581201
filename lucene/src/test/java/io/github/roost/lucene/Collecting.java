package io.github.roost.lucene;

import java.io.IOException;
import java.util.Collection;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.CollectorManager;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.SimpleCollector;

/** Tells of every hit, in the thread that collects it. */
record Collecting(OnHit onHit) implements CollectorManager<SimpleCollector, Boolean> {
    /** Told of one hit. */
    interface OnHit {
        void hit(LeafReaderContext segment) throws IOException;
    }

    @Override
    public SimpleCollector newCollector() {
        return new SimpleCollector() {
            private @SuppressWarnings("NullAway.Init") LeafReaderContext segment;

            @Override
            protected void doSetNextReader(LeafReaderContext next) {
                segment = next;
            }

            @Override
            public void collect(int document) throws IOException {
                onHit.hit(segment);
            }

            @Override
            public ScoreMode scoreMode() {
                return ScoreMode.COMPLETE;
            }
        };
    }

    @Override
    public Boolean reduce(Collection<SimpleCollector> collectors) {
        return true;
    }
}
