package io.github.roost.core;

import java.util.function.BooleanSupplier;

/** See {@link SearchContext#outside}. */
record OutsideContext(SearchContext.Touched listener, BooleanSupplier expiry) implements SearchContext {
    @Override
    public void touched(long nodes, long bytes) {
        listener.touched(nodes, bytes);
    }

    @Override
    public int worker() {
        return -1;
    }

    @Override
    public int domain() {
        return -1;
    }

    @Override
    public long epoch() {
        return 0;
    }

    @Override
    public boolean expired() {
        return expiry.getAsBoolean();
    }
}
