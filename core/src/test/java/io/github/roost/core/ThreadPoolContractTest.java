package io.github.roost.core;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The oracle of {@link MappedExecutorContractTest}: the JDK's own pool keeps the same contract. */
class ThreadPoolContractTest extends ExecutorServiceContract {
    @Override
    ExecutorService open() {
        return Executors.newFixedThreadPool(WORKERS);
    }
}
