package io.github.roost.cli;

import io.github.roost.server.Rehearsal;
import io.github.roost.simulator.options.RoostHome;
import io.github.roost.topology.TopologyReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** {@code roost rehearse}: run by {@code ./roost} after a build, so that the JVM can make an AOT cache. */
@Command(
        name = "rehearse",
        hidden = true,
        description =
                "Starts the service on small tables and sends it requests, so that the JVM can record an AOT cache.")
final class RehearseCommand implements Callable<Integer> {

    @Override
    public Integer call() throws IOException {
        PrintStream nowhere = new PrintStream(PrintStream.nullOutputStream(), false);
        Streams unseen = new Streams(InputStream.nullInputStream(), nowhere, nowhere, false);
        RoostCommand.run(new String[] {"topology"}, unseen);
        RoostCommand.run(new String[] {"serve", "--help"}, unseen);
        Rehearsal.run(RoostHome.packages(), TopologyReader.live().read());
        return 0;
    }
}
