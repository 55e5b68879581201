/** Third-party engines that Roost is compared with, and the data that all engines get. */
@NullMarked
package io.github.roost.bench.peer;

import org.jspecify.annotations.NullMarked;
