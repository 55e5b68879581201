/** What the tests of several modules share. */
@NullMarked
package io.github.roost.testkit;

import org.jspecify.annotations.NullMarked;
