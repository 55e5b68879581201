package io.github.roost.topology.system;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CpuQuotaTest {
    @TempDir
    private Path root;

    private void file(String name, String content) throws IOException {
        Path file = root.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, content + "\n");
    }

    @Test
    void aContainersQuotaIsRoundedUp() throws IOException {
        file("proc/self/cgroup", "0::/");
        file("sys/fs/cgroup/cpu.max", "250000 100000");
        assertThat(CpuQuota.cpus(root)).hasValue(3);
    }

    @Test
    void lessThanOneCpuIsOne() throws IOException {
        file("proc/self/cgroup", "0::/");
        file("sys/fs/cgroup/cpu.max", "5000 100000");
        assertThat(CpuQuota.cpus(root)).hasValue(1);
    }

    @Test
    void theLeastOfTheGroupsThatHoldTheProcessApplies() throws IOException {
        file("proc/self/cgroup", "0::/system.slice/roost.service");
        file("sys/fs/cgroup/system.slice/roost.service/cpu.max", "800000 100000");
        file("sys/fs/cgroup/system.slice/cpu.max", "400000 100000");
        file("sys/fs/cgroup/other.slice/cpu.max", "100000 100000");
        assertThat(CpuQuota.cpus(root)).hasValue(4);
    }

    @Test
    void aGroupWithoutQuotaHasNone() throws IOException {
        file("proc/self/cgroup", "0::/system.slice/roost.service");
        file("sys/fs/cgroup/system.slice/roost.service/cpu.max", "max 100000");
        assertThat(CpuQuota.cpus(root)).isEmpty();
    }

    @Test
    void theFirstVersionOfControlGroupsNamesTheControllerInTheLine() throws IOException {
        file("proc/self/cgroup", "5:memory:/docker/1\n4:cpu,cpuacct:/docker/1\n0::/docker/1");
        // As in a container: the path of the group is the host's, the mount is the container's own group.
        file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "600000");
        file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "200000");
        assertThat(CpuQuota.cpus(root)).hasValue(3);
        file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
        assertThat(CpuQuota.cpus(root)).isEmpty();
    }

    @Test
    void aPathThatLeadsOutOfTheMountIsTheMount() throws IOException {
        file("proc/self/cgroup", "0::/../../kubepods");
        file("sys/fs/cgroup/cpu.max", "200000 100000");
        assertThat(CpuQuota.cpus(root)).hasValue(2);
    }

    @Test
    void whatCannotBeReadIsNoQuota() throws IOException {
        assertThat(CpuQuota.cpus(root)).as("no control groups").isEmpty();
        file("proc/self/cgroup", "0::/");
        for (String content : new String[] {"", "many 100000", "1 2 3", "100000 0", "100000"}) {
            file("sys/fs/cgroup/cpu.max", content);
            assertThat(CpuQuota.cpus(root)).as(content).isEmpty();
        }
        file("proc/self/cgroup", "a line of another kind");
        assertThat(CpuQuota.cpus(root)).isEmpty();
    }
}
