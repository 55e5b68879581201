package io.github.roost.cli;

import java.io.InputStream;
import java.io.PrintStream;

/**
 * The streams of a command.
 *
 * @param in standard input
 * @param out results only
 * @param err messages and progress
 * @param terminal whether {@code err} is a terminal, so that a line may be redrawn
 */
public record Streams(InputStream in, PrintStream out, PrintStream err, boolean terminal) {}
