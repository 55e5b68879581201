package io.github.roost.lucene;

import org.apache.lucene.codecs.Codec;
import org.apache.lucene.tests.index.BaseKnnVectorsFormatTestCase;

/** Lucene's own tests of a vector format, with the codec as users have it: small segments have no graph. */
public class RoostCodecTest extends BaseKnnVectorsFormatTestCase {
    /** For JUnit. */
    public RoostCodecTest() {}

    @Override
    protected Codec getCodec() {
        return new RoostCodec();
    }

    /** The vectors themselves are always there. */
    @Override
    protected boolean supportsFloatVectorFallback() {
        return false;
    }
}
