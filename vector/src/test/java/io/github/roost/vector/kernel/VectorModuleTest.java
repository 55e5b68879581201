package io.github.roost.vector.kernel;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class VectorModuleTest {
    @Test
    void halfOfTheArgumentsOfTheJvmIsToldWithTheOther() {
        assertThatThrownBy(() -> VectorModule.requireArguments("panama", ModuleLayer.empty()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(
                        "-Djvector.vectorization_provider=panama needs --add-modules jdk.incubator.vector");
        VectorModule.requireArguments(null, ModuleLayer.empty());
        VectorModule.requireArguments("default", ModuleLayer.empty());
        VectorModule.requireArguments();
    }
}
