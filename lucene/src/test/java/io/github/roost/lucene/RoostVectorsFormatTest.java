package io.github.roost.lucene;

import org.apache.lucene.codecs.Codec;
import org.apache.lucene.tests.index.BaseKnnVectorsFormatTestCase;
import org.apache.lucene.tests.util.TestUtil;

/** Lucene's own tests of a vector format, with segments as small as these in which every field has a graph all the same. */
public class RoostVectorsFormatTest extends BaseKnnVectorsFormatTestCase {
    /** For JUnit. */
    public RoostVectorsFormatTest() {}

    @Override
    protected Codec getCodec() {
        return TestUtil.alwaysKnnVectorsFormat(Written.GRAPH.format(GraphBuilds.IN_CALLER));
    }

    /** The vectors themselves are always there. */
    @Override
    protected boolean supportsFloatVectorFallback() {
        return false;
    }
}
