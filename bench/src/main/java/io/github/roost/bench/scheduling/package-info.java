/** JMH benchmarks of what scheduling costs, each with the JDK's pools beside it. */
@NullMarked
package io.github.roost.bench.scheduling;

import org.jspecify.annotations.NullMarked;
