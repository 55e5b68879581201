/** What Roost's own modules ask of the operating system: CPUs of threads, memory of domains, access to native code. */
@NullMarked
package io.github.roost.topology.system;

import org.jspecify.annotations.NullMarked;
