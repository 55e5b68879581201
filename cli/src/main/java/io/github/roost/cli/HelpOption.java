package io.github.roost.cli;

import picocli.CommandLine.Option;

/** The option of every command. */
final class HelpOption {
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help.")
    private boolean help;
}
