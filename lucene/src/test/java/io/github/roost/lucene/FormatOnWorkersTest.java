package io.github.roost.lucene;

import io.github.roost.core.Orchestrator;
import io.github.roost.topology.TopologyReader;
import org.apache.lucene.codecs.Codec;
import org.apache.lucene.tests.index.BaseKnnVectorsFormatTestCase;
import org.apache.lucene.tests.util.TestUtil;
import org.junit.AfterClass;
import org.junit.BeforeClass;

/** Lucene's own tests of a vector format, with graphs built on the workers of an orchestrator. */
public class FormatOnWorkersTest extends BaseKnnVectorsFormatTestCase {
    private static Orchestrator orchestrator;
    private static Codec codec;

    /** For JUnit. */
    public FormatOnWorkersTest() {}

    /** Starts the workers. */
    @BeforeClass
    public static void startWorkers() {
        orchestrator = Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read())
                .build();
        codec = TestUtil.alwaysKnnVectorsFormat(Written.GRAPH.format(GraphBuilds.on(orchestrator)));
    }

    /** Ends the workers: Lucene's tests fail if threads are left. */
    @AfterClass
    public static void endWorkers() {
        orchestrator.close();
    }

    @Override
    protected Codec getCodec() {
        return codec;
    }

    /** The vectors themselves are always there. */
    @Override
    protected boolean supportsFloatVectorFallback() {
        return false;
    }
}
