package io.github.roost.topology;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.topology.system.NativeAccess;
import org.junit.jupiter.api.Test;

class NativeAccessTest {
    @Test
    void theMessageNamesTheArgumentForTheModuleOfTheCaller() {
        assertThat(NativeAccess.denied("base", String.class))
                .isEqualTo("native access is denied to Roost's base module; to allow it:"
                        + " --enable-native-access=java.base");
    }
}
