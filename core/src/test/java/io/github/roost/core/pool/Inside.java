package io.github.roost.core.pool;

import io.github.roost.core.Orchestrator;
import java.lang.reflect.Field;

/** What tests see of an orchestrator that its users do not. */
final class Inside {
    private Inside() {}

    static WorkerPool pool(Orchestrator orchestrator) {
        try {
            Field field = Orchestrator.class.getDeclaredField("pool");
            field.setAccessible(true);
            return (WorkerPool) field.get(orchestrator);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("the orchestrator has no such field", e);
        }
    }
}
