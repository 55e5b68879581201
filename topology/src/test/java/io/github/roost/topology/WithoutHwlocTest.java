package io.github.roost.topology;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.testkit.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@Tag("program")
@EnabledOnOs(OS.LINUX)
class WithoutHwlocTest {
    private static final String MISSING = "-Droost.hwloc.library=/nowhere/libhwloc.so.15";
    private static final String FLAT =
            "{\"source\":\"flat\",\"level\":\"PACKAGE\",\"domains\":[{\"id\":0,\"cacheBytes\":0,"
                    + "\"numa\":[],\"package\":0,\"cores\":[";

    @Test
    void theMachineIsFlatAndOneWarningNamesTheInstallLine() throws Exception {
        List<String> seen = new ChildJvm(LiveProbe.class).with(MISSING).run();
        assertThat(seen.stream().filter(line -> line.contains("WARN")))
                .singleElement()
                .asString()
                .contains("hwloc 2.x is not installed", "to install it: " + InstallLine.ofThisPlatform());
        assertThat(seen).filteredOn(line -> line.startsWith(FLAT)).hasSize(3);
        assertThat(seen.getLast()).isEqualTo("bindable=true pinned=true");
    }

    @Test
    void theFlatMachineStillHonorsTheMask() throws Exception {
        assertThat(new ChildJvm(LiveProbe.class)
                        .under("taskset", "-c", "0")
                        .with(MISSING)
                        .run())
                .filteredOn(line -> line.equals(FLAT + "{\"id\":0,\"efficiency\":-1,\"pus\":[0]}]}]}"))
                .hasSize(3);
    }

    @Test
    void anotherMajorVersionIsNamedAndNotUsed(@TempDir Path folder) throws Exception {
        List<String> seen = new ChildJvm(LiveProbe.class)
                .with("-Droost.hwloc.library=" + libraryOfVersion("0x00030100", folder))
                .run();
        assertThat(seen).anySatisfy(line -> assertThat(line).contains("Roost needs hwloc 2.x, and ", " is hwloc 3.1"));
        assertThat(seen).filteredOn(line -> line.startsWith(FLAT)).hasSize(3);
    }

    @Test
    void deniedNativeAccessLeavesAFlatUnpinnedMachine() throws Exception {
        List<String> seen =
                new ChildJvm(LiveProbe.class).withNativeAccessDenied().run();
        assertThat(seen)
                .anySatisfy(line -> assertThat(line)
                        .contains("native access is denied", "--enable-native-access=ALL-UNNAMED")
                        .doesNotContain("to install it"));
        assertThat(seen).filteredOn(line -> line.startsWith(FLAT)).hasSize(3);
        assertThat(seen.getLast()).isEqualTo("bindable=false pinned=false");
    }

    @Test
    void otherSystemsAreFlatAndUnpinned() throws Exception {
        for (String system : List.of("Mac OS X", "Windows 11")) {
            List<String> seen =
                    new ChildJvm(LiveProbe.class).with("-Dos.name=" + system).run();
            assertThat(seen).filteredOn(line -> line.startsWith(FLAT)).hasSize(3);
            assertThat(seen.getLast()).isEqualTo("bindable=false pinned=false");
        }
    }

    @Test
    void theInstallLineIsTheDistributionsOwn() {
        assertThat(InstallLine.of(List.of("NAME=x", "ID=linuxmint", "ID_LIKE=\"ubuntu debian\"")))
                .isEqualTo("apt-get install libhwloc15");
        assertThat(InstallLine.of(List.of("ID=\"rocky\"", "ID_LIKE=\"rhel centos fedora\"")))
                .isEqualTo("dnf install hwloc-libs");
        assertThat(InstallLine.of(List.of("ID=plan9"))).contains("hwloc 2.x");
    }

    private static Path libraryOfVersion(String version, Path folder) throws IOException, InterruptedException {
        Path source = Files.writeString(
                folder.resolve("version.c"), "unsigned hwloc_get_api_version(void) { return " + version + "; }\n");
        Path library = folder.resolve("libversion.so");
        try {
            Process compiler = new ProcessBuilder("cc", "-shared", "-fPIC", "-o", library.toString(), source.toString())
                    .inheritIO()
                    .start();
            assertThat(compiler.waitFor()).isZero();
        } catch (IOException absent) {
            Assumptions.abort("there is no C compiler to build a library of another version with");
        }
        return library;
    }
}
