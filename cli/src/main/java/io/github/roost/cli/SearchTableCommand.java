package io.github.roost.cli;

import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code roost search} of one kind of index. */
@Command
final class SearchTableCommand implements Callable<Integer> {
    private final Streams streams;

    @Mixin
    private final SearchOptions options = new SearchOptions();

    @Mixin
    private final IndexPlan index;

    SearchTableCommand(Streams streams, IndexPlan index) {
        this.streams = streams;
        this.index = index;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        try {
            return new SearchRun(options, index, streams).run();
        } finally {
            index.close();
        }
    }
}
