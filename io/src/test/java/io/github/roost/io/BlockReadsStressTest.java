package io.github.roost.io;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.testkit.Jcstress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs the jcstress tests of this module. */
@Tag("stress")
class BlockReadsStressTest {
    @Test
    @Timeout(value = 20, unit = TimeUnit.MINUTES)
    void noInterleavingLosesACompletion(@TempDir Path reports) throws IOException, InterruptedException {
        assertThat(Jcstress.run("io\\.github\\.roost\\.io\\..*", 300, reports)).contains("BlockReadsStress");
    }
}
