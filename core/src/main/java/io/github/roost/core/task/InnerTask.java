package io.github.roost.core.task;

import org.jspecify.annotations.Nullable;

/** A task that is not itself a request: a part of one, or a group of queries. Holds what such a task goes on with. */
abstract class InnerTask implements Stepper {
    private @Nullable Object work;
    private volatile @Nullable Parked parked;
    /** Whether its search has been counted; written by the owner. */
    private boolean counted;

    @Override
    public @Nullable Object work() {
        return work;
    }

    @Override
    public void work(Object then) {
        work = then;
    }

    void forgetWork() {
        work = null;
    }

    @Override
    public boolean isTimed() {
        return true;
    }

    @Override
    public boolean countsAsSearch() {
        boolean first = !counted;
        counted = true;
        return first;
    }

    @Override
    public @Nullable Parked parked() {
        return parked;
    }

    @Override
    public void parked(Parked now) {
        parked = now;
    }
}
