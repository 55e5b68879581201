package io.github.roost.core.dispatch;

/** How loaded workers are, as a dispatcher sees it. May be a moment old. */
@FunctionalInterface
public interface LoadView {
    /**
     * Tasks that wait in a worker's rings, plus one while it runs one.
     *
     * @param worker from 0 to the number of workers exclusive
     * @return at least 0; may be a moment old
     */
    int load(int worker);
}
