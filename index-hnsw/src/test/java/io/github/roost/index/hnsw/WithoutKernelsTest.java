package io.github.roost.index.hnsw;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.testkit.ChildJvm;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A JVM in which no C kernel may be loaded, without jvector on its class path. */
@Tag("program")
class WithoutKernelsTest {
    @Test
    void aBuildNamesTheDependencyThatItNeeds() throws Exception {
        assertThat(new ChildJvm(Build.class).withNativeAccessDenied().run())
                .last()
                .isEqualTo("buildInJava(true), and every build without C kernels, needs jvector: add the dependency"
                        + " io.github.roost:roost-index-jvector");
    }

    static final class Build {
        private Build() {}

        public static void main(String[] arguments) {
            try (Orchestrator orchestrator = Fixtures.roundRobin()) {
                HnswTable.builder().build(orchestrator, new float[][] {{1, 0}, {0, 1}});
            } catch (IllegalStateException e) {
                System.out.println(e.getMessage());
            }
        }
    }
}
