package io.github.roost.lucene;

import org.apache.lucene.codecs.Codec;
import org.apache.lucene.tests.index.BaseKnnVectorsFormatTestCase;

/** Lucene's own tests of a vector format, with segments that have codes and no graph, however small they are. */
public class RoostCodecTest extends BaseKnnVectorsFormatTestCase {
    /** For JUnit. */
    public RoostCodecTest() {}

    @Override
    protected Codec getCodec() {
        return Written.CODES.codec();
    }

    /** The vectors themselves are always there. */
    @Override
    protected boolean supportsFloatVectorFallback() {
        return false;
    }
}
