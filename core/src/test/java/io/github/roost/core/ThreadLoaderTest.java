package io.github.roost.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ThreadLoaderTest {
    private static final InheritableThreadLocal<@Nullable String> OF_BUILDER = new InheritableThreadLocal<>();

    @Test
    void threadsKeepNothingOfTheThreadThatBuildsTheOrchestrator() throws Exception {
        WeakReference<ClassLoader> loader = buildsAndCloses();
        while (loader.get() != null) {
            System.gc();
            Thread.sleep(10);
        }
    }

    private static WeakReference<ClassLoader> buildsAndCloses() throws Exception {
        ClassLoader ofBuilder = new URLClassLoader(new URL[0], ThreadLoaderTest.class.getClassLoader());
        FutureTask<Orchestrator> building = new FutureTask<>(() -> {
            OF_BUILDER.set("the builder's");
            return Orchestrator.builder().build();
        });
        Thread builder = Thread.ofPlatform().unstarted(building);
        builder.setContextClassLoader(ofBuilder);
        builder.start();
        try (Orchestrator orchestrator = building.get()) {
            builder.join();
            assertThat(Thread.getAllStackTraces().keySet())
                    .as("the threads of Roost, among all")
                    .anyMatch(thread -> thread.getName().startsWith("roost-w"))
                    .allMatch(thread -> thread.getContextClassLoader() != ofBuilder);
            MappingId id = orchestrator.register("table").id();
            assertThat(orchestrator
                            .submit((query, context) -> String.valueOf(OF_BUILDER.get()), "query", id)
                            .get(30, TimeUnit.SECONDS))
                    .isEqualTo("null");
        }
        return new WeakReference<>(ofBuilder);
    }
}
