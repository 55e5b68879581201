package io.github.roost.topology;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.testkit.ChildJvm;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@Tag("program")
@EnabledOnOs(OS.LINUX)
class NarrowedProcessTest {
    private final List<Integer> cpus = TopologyReader.live()
            .read()
            .cores()
            .flatMap(core -> core.pus().stream())
            .toList();

    @Test
    void tasksetLeavesWhatItAllowsAndNothingElse() throws Exception {
        for (int cpu : cpus) {
            List<String> seen = new ChildJvm(LiveProbe.class)
                    .under("taskset", "-c", Integer.toString(cpu))
                    .run();
            assertThat(seen.get(0))
                    .contains("\"cores\":[{\"id\":0,\"efficiency\":-1,\"pus\":[" + cpu + "]}]")
                    .containsOnlyOnce("\"pus\"");
            assertThat(seen.get(3)).isEqualTo("bindable=true pinned=true");
        }
    }

    @Test
    void aPinnedThreadReadsTheMachineOfTheProcessAndNotOfItsOwnCore() throws Exception {
        List<String> seen = new ChildJvm(LiveProbe.class).run();
        assertThat(seen.get(2)).isEqualTo(seen.get(0));
        assertThat(seen.get(0).split("\"pus\"")).hasSize(1 + cpus.size());
    }

    @Test
    void aPretendCoreOutsideTheMaskIsRefused() throws Exception {
        List<String> seen = new ChildJvm(PretendProbe.class)
                .under("taskset", "-c", cpus.getLast().toString())
                .run(Integer.toString(cpus.getLast() + 1));
        assertThat(seen).containsExactly("true []", "false [CPUs 4000 are not among the CPUs of this process]");
    }

    /** Pins to CPU {@code args[0]} - 1 and then to one that no machine has, by way of a made-up topology. */
    static final class PretendProbe {
        private PretendProbe() {}

        public static void main(String[] args) {
            System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "off");
            Topology pretend = TopologyReader.synthetic("pack:1 l3:2 core:2 pu:1")
                    .onThisSystem(true)
                    .read();
            for (int cpu : new int[] {Integer.parseInt(args[0]) - 1, 4_000}) {
                Pinner.Result result = Pinner.of(pretend).pin(new Core(0, -1, List.of(cpu)));
                System.out.println(result.pinned() + " [" + result.reason() + "]");
            }
        }
    }
}
