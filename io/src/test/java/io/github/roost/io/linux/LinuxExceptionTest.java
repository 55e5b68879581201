package io.github.roost.io.linux;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LinuxExceptionTest {
    @Test
    void deniedNativeAccessIsReportedWithTheArgumentThatAllowsIt() {
        IllegalCallerException denied = new IllegalCallerException("denied");
        assertThat(LinuxException.denied(denied))
                .hasMessageStartingWith(
                        "native access is denied to Roost's core module; to allow it: --enable-native-access=")
                .hasCause(denied);
    }
}
