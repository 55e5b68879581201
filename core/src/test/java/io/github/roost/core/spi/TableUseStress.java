package io.github.roost.core.spi;

import io.github.roost.core.TableClosedException;
import java.util.Objects;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** A table is closed, and its memory freed, as somebody enters who may do so while it is in use. */
@JCStressTest
@Outcome(id = "0, 1", expect = Expect.ACCEPTABLE, desc = "read before it was freed")
@Outcome(id = "2, 1", expect = Expect.ACCEPTABLE, desc = "refused")
@Outcome(id = "1, .*", expect = Expect.FORBIDDEN, desc = "read what was freed")
@Outcome(expect = Expect.FORBIDDEN, desc = "never freed")
@State
public class TableUseStress {
    private static final int REFUSED = 2;
    /** So long that what is freed in the midst of them is seen. */
    private static final int LOOKS = 200;

    private final TableUse use = new TableUse("table");
    private volatile int freed;

    /** For the generated runner. */
    public TableUseStress() {}

    @Actor
    public void reader(II_Result result) {
        try {
            use.enterFromInside(1);
        } catch (TableClosedException closed) {
            result.r1 = REFUSED;
            return;
        }
        int seen = 0;
        for (int look = 0; look < LOOKS; look++) {
            seen |= freed;
        }
        result.r1 = seen;
        use.exit(1);
    }

    @Actor
    public void closer() {
        Objects.requireNonNull(use.close()).close();
        if (use.unused().isDone()) {
            freed = 1;
        }
    }

    @Arbiter
    public void after(II_Result result) {
        result.r2 = use.unused().isDone() ? 1 : 0;
    }
}
