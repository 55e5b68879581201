package io.github.roost.bench.rivals;

import io.github.roost.simulator.options.RoostHome;
import io.github.roost.testkit.PeerPython;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** {@code --peer} of a benchmark that compares hnswlib, in addition to jvector. */
public final class HnswlibOption {
    private enum Peer {
        hnswlib,
        none
    }

    @Option(names = "--peer", paramLabel = "hnswlib|none", description = "none leaves out hnswlib, which needs Python.")
    private Peer peer = Peer.hnswlib;

    /** The interpreter that has hnswlib, which is installed if it is not yet; null if hnswlib is left out. */
    public @Nullable Path python() throws IOException, InterruptedException {
        return peer == Peer.none ? null : PeerPython.prepare(RoostHome.peer("hnswlib"), PeerPython.HNSWLIB);
    }
}
