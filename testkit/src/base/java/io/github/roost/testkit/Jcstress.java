package io.github.roost.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Runs jcstress tests in JVMs of their own. Each has two actors, so that they run on two cores. */
public final class Jcstress {
    private Jcstress() {}

    /**
     * Runs tests that must all pass.
     *
     * @param tests a pattern of their class names
     * @param millis the time of an iteration, of which there are {@link Effort#times(int) one or more}
     * @param reports an empty folder
     * @return what jcstress printed, with the name of each test
     */
    public static String run(String tests, int millis, Path reports) throws IOException, InterruptedException {
        Process stress = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        "org.openjdk.jcstress.Main",
                        "-t",
                        tests,
                        "-f",
                        "1",
                        "-fsm",
                        "1",
                        "-iters",
                        Integer.toString(Effort.times(1)),
                        "-time",
                        Integer.toString(millis),
                        "-sc",
                        "false",
                        "-af",
                        "NONE",
                        "-jvmArgs",
                        "-Xmx512m --enable-native-access=ALL-UNNAMED",
                        "-v",
                        "-r",
                        reports.toString())
                .directory(reports.toFile())
                .redirectErrorStream(true)
                .start();
        stress.getOutputStream().close();
        String report = new String(stress.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(stress.waitFor()).as(report).isZero();
        assertThat(report).contains(" 0 failed, 0 soft errs, 0 hard errs");
        return report;
    }
}
