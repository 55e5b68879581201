package io.github.roost.core.task;

import io.github.roost.core.Part;
import io.github.roost.core.Priority;
import io.github.roost.core.placement.Epoch;
import io.github.roost.core.spi.TableUse;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The task of one part of a request. It is counted off exactly once, however it ends. A part may itself park, yield or fork; a
 * part of a part belongs to the same request.
 */
public final class PartTask extends InnerTask {
    private final Join join;
    private final int index;
    private final int slot;
    private final @Nullable TableUse use;
    private @Nullable Object query;

    public PartTask(Join join, Part<?, ?> part, int index) {
        this.join = join;
        this.index = index;
        work(part.searchFunction());
        this.query = part.query();
        this.slot = part.mappingId().slot();
        this.use = join.task().use() == null
                ? null
                : part.mappingId().registration().use();
    }

    @Override
    public After run(TaskContext context) {
        return Stepper.run(this, context);
    }

    @Override
    public @Nullable Object query() {
        return query;
    }

    @Override
    public void done(@Nullable Object result) {
        join.result(index, result);
    }

    @Override
    public void failRequest(Throwable failure) {
        join.task().failRequest(failure);
    }

    @Override
    public void fail(Throwable cause) {
        failRequest(cause);
    }

    @Override
    public void deliver(Consumer<Task> goesOn) {
        forgetWork();
        query = null;
        join.countOff(1, goesOn);
    }

    @Override
    public int slot() {
        return slot;
    }

    @Override
    public Epoch epoch() {
        return join.task().epoch();
    }

    @Override
    public @Nullable TableUse use() {
        return use;
    }

    @Override
    public Priority priority() {
        return join.task().priority();
    }

    @Override
    public boolean isMaintenance() {
        return join.task().isMaintenance();
    }

    @Override
    public long submittedNanos() {
        return join.task().submittedNanos();
    }

    @Override
    public long deadlineNanos() {
        return join.task().deadlineNanos();
    }

    @Override
    public boolean isUnneeded() {
        return join.task().isUnneeded();
    }

    @Override
    public void forEachRequest(Consumer<Request<?, ?>> each) {
        join.request(each);
    }
}
