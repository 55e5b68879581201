package io.github.roost.io;

import io.github.roost.core.spi.Pending;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZI_Result;

/** The last read ends while a slice makes the pending that it parks on: the pending is completed, and the read is found. */
@JCStressTest
@Outcome(id = "true, 1", expect = Expect.ACCEPTABLE, desc = "the search goes on and finds its read")
@Outcome(expect = Expect.FORBIDDEN, desc = "the search waits for ever, or its read is lost")
@State
@SuppressWarnings("NullAway") // neither disk nor buffer is needed
public class BlockReadsStress {
    private final BlockReads reads = new BlockReads(null);
    private final BlockReads.Read read = new BlockReads.Read(reads, null, 0, null, null);
    private Pending pending = new Pending();

    public BlockReadsStress() {
        reads.begin(1);
    }

    @Actor
    public void device() {
        reads.ended(read);
    }

    @Actor
    public void slice() {
        pending = reads.any();
    }

    @Arbiter
    public void afterwards(ZI_Result result) {
        result.r1 = pending.ready();
        for (BlockReads.Read next = reads.next(); next != null; next = reads.next()) {
            result.r2++;
        }
    }
}
