package io.github.roost.index.ivf;

import io.github.roost.core.Orchestrator;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Keeps the only worker of an orchestrator from all else until it is closed. */
final class BusyWorker implements AutoCloseable {
    private final CountDownLatch release = new CountDownLatch(1);

    BusyWorker(Orchestrator ofOneWorker, IvfTable table) throws InterruptedException {
        CountDownLatch started = new CountDownLatch(1);
        var _ = ofOneWorker.submit(
                (none, context) -> {
                    started.countDown();
                    return release.await(60, TimeUnit.SECONDS);
                },
                0,
                table.registration().id(0));
        started.await();
    }

    @Override
    public void close() {
        release.countDown();
    }
}
