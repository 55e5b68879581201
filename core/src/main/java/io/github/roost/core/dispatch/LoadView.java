package io.github.roost.core.dispatch;

/** How loaded workers are, as a dispatcher sees it. May be a moment old. */
@FunctionalInterface
public interface LoadView {
    /** Tasks that wait in a worker's rings, plus one while it runs one. */
    int load(int worker);
}
