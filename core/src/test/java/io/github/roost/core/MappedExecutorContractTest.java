package io.github.roost.core;

import io.github.roost.testkit.Machines;
import java.util.concurrent.ExecutorService;

/** The view of an orchestrator's workers as an executor service. */
class MappedExecutorContractTest extends ExecutorServiceContract {
    private final Orchestrator orchestrator =
            Machines.orchestrator(1, WORKERS).ringCapacity(128).build();

    @Override
    ExecutorService open() {
        return orchestrator.executor(orchestrator.register("table").id());
    }

    @Override
    void afterClose() {
        orchestrator.close();
    }
}
