// Known traces of memory, for tests of the cache model: one thread takes the names of several workers in turn.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

enum { LINE = 64 };

static volatile uint64_t sum;

static void named(const char *name) { prctl(PR_SET_NAME, name); }

static char *table(size_t bytes) {
    char *made = aligned_alloc(1 << 20, bytes);
    if (made == NULL) {
        abort();
    }
    return made;
}

static void sweep(const char *lines, size_t bytes) {
    uint64_t read = 0;
    for (size_t at = 0; at < bytes; at += LINE) {
        read += *(const volatile uint64_t *)(lines + at);
    }
    sum = read;
}

static void store(char *lines, size_t bytes) {
    for (size_t at = 0; at < bytes; at += LINE) {
        *(volatile uint64_t *)(lines + at) = at;
    }
}

// A section for the first sweep, and one for those that follow.
static void once_and_again(size_t bytes, int rounds) {
    char *lines = table(bytes);
    named("roost-w-0.0");
    named("count-on");
    sweep(lines, bytes);
    named("count-off");
    named("count-on");
    for (int round = 0; round < rounds; round++) {
        sweep(lines, bytes);
    }
    named("count-off");
}

// Two workers sweep a table each, in turns, the second one under the given name.
static void two_tables(size_t bytes, int rounds, const char *second) {
    char *lines[] = {table(bytes), table(bytes)};
    const char *names[] = {"roost-w-0.0", second};
    for (int round = 0; round <= rounds; round++) {
        for (int at = 0; at < 2; at++) {
            named(names[at]);
            sweep(lines[at], bytes);
        }
        if (round == 0) {
            named("count-on");
        }
    }
    named("count-off");
}

// What one worker has read, another writes, and the first reads again.
static void written_between(size_t bytes, const char *writer) {
    char *lines = table(bytes);
    named("roost-w-0.0");
    sweep(lines, bytes);
    named(writer);
    store(lines, bytes);
    named("roost-w-0.0");
    named("count-on");
    sweep(lines, bytes);
    named("count-off");
}

static void at_random(size_t bytes, int count) {
    char *lines = table(bytes);
    named("roost-w-0.0");
    named("count-on");
    uint64_t random = 1;
    uint64_t read = 0;
    for (int at = 0; at < count; at++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        // Half of the reads are of the first eighth.
        size_t range = random >> 63 ? bytes : bytes / 8;
        volatile uint64_t *word = (volatile uint64_t *)(lines + ((random >> 20) % range & ~7ul));
        if (at % 4 == 0) {
            *word = random;
        } else {
            read += *word;
        }
    }
    sum = read;
    named("count-off");
}

int main(int count, char **words) {
    if (count < 4) {
        fprintf(stderr, "needs a trace, bytes, and a number or a name\n");
        return 2;
    }
    named("model-on");
    size_t bytes = strtoull(words[2], NULL, 10);
    int number = atoi(words[3]);
    if (strcmp(words[1], "sweep") == 0) {
        once_and_again(bytes, number);
    } else if (strcmp(words[1], "two") == 0) {
        two_tables(bytes, 4, words[3]);
    } else if (strcmp(words[1], "written") == 0) {
        written_between(bytes, words[3]);
    } else if (strcmp(words[1], "random") == 0) {
        at_random(bytes, number);
    } else {
        return 2;
    }
    return 0;
}
