package io.github.roost.examples.cli;

import java.io.InputStream;
import java.io.PrintStream;

/**
 * Where a command reads from and writes to.
 *
 * @param in standard input
 * @param out results, and nothing else
 * @param err messages and progress
 * @param terminal whether {@code err} is watched by a person, so that a line may be redrawn
 */
public record Streams(InputStream in, PrintStream out, PrintStream err, boolean terminal) {}
