// A plugin of qemu-x86_64 that models data caches under an unchanged program: one private cache per worker thread, and one L3 per
// domain, for each of several sizes of L3 at once. A worker is a thread whose name begins with roost-w and ends with -DOMAIN or
// -DOMAIN.INDEX; the JVM cuts names after 15 characters, mostly before the index. A thread named model-on
// starts the model, before which the program runs without its cost; one named count-on begins a section of counts, one named count-off appends it to a file, as one line of JSON.
//
// Options: out=FILE, private=BYTES, private-ways=N, l3=BYTES (again for each further size), l3-ways=N, line=BYTES, pace=REFERENCES (0: none).
//
// Caches are set-associative, replace the least recently used line, allocate on writes too, and are neither inclusive nor exclusive: L3 sees
// what misses the private cache. Writes invalidate other copies: each line has a version, which the first write after another
// thread's access increases, and a copy of another version is stale. A stale copy keeps its place until it is replaced.
// Instructions, prefetches and address translation are not modelled. Writes of threads that are no workers invalidate, but their
// accesses are not counted.
#include "qemu_plugin.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

enum { DOMAINS = 31, WORKERS = 254, UNNUMBERED = 128, SIZES = 8, OUTSIDE = 255 };
// System calls of x86-64.
enum { PRCTL = 157 };
// How often a thread looks at the others' progress, and how long it waits for one that makes none: that one may hold a lock of QEMU
// that this one needs to go on.
enum { PACE_STEP = 256, PACE_PAUSE_NANOS = 20000, PACE_PAUSES = 100 };

// What is known of a line of memory, in one word. SHARED: others than the writer may have a copy.
#define VERSION(state) ((uint32_t)(state)&0xffffff)
#define WRITER(state) ((unsigned)((state) >> 24) & 0xff)
#define SHARED (1ull << 32)
#define SEEN(domain) (1ull << (33 + (domain)))
#define SEEN_BY_ALL (~0ull << 33)

typedef _Atomic uint64_t line_state;

enum { CHUNK_BITS = 20, CHUNKS = 1 << 22 };
static line_state *_Atomic chunks[CHUNKS];

struct way {
    uint64_t line;
    uint32_t version;
};

struct cache {
    struct way *ways;
    uint64_t sets;
    unsigned associativity;
};

enum found { HIT, ABSENT, STALE };

struct l3_counts {
    uint64_t hits, cold, capacity, coherence;
};

struct counts {
    uint64_t references, misses, invalidated;
    struct l3_counts l3[SIZES];
};

struct domain {
    pthread_mutex_t lock;
    struct cache l3[SIZES];
};

// Only its own thread writes a worker, except for the base of its counts.
struct worker {
    unsigned number, domain;
    struct cache private;
    struct counts counts, base;
    uint64_t last_line;
    line_state *last_state;
    uint32_t last_version;
    unsigned steps;
    _Atomic uint64_t clock;
    _Atomic bool running;
};

static struct {
    uint64_t private_bytes, l3_bytes[SIZES], line_bytes, pace;
    unsigned private_ways, l3_ways, sizes, line_bits;
    char *out;
} options = {.private_bytes = 256 << 10, .line_bytes = 64, .private_ways = 8, .l3_ways = 16};

static pthread_mutex_t roster = PTHREAD_MUTEX_INITIALIZER;
static struct domain *domains[DOMAINS];
static struct worker *workers[DOMAINS][WORKERS];
static struct worker *_Atomic everyone[OUTSIDE];
static _Atomic unsigned worker_count;
static _Atomic uint64_t gave_up;
static uint64_t gave_up_before;

static qemu_plugin_id_t own_id;

static _Thread_local struct worker *self;
static _Thread_local bool renamed;

static bool make_cache(struct cache *cache, uint64_t bytes, unsigned ways) {
    cache->associativity = ways;
    cache->sets = bytes / options.line_bytes / ways;
    cache->ways = calloc(cache->sets * ways, sizeof(struct way));
    return cache->ways != NULL;
}

// Moves a line to the front of its set, after filling it if there is no copy of that version.
static enum found touch(struct cache *cache, uint64_t line, uint32_t version) {
    struct way *set = cache->ways + (line & (cache->sets - 1)) * cache->associativity;
    unsigned at = 0;
    while (at < cache->associativity && set[at].line != line) {
        at++;
    }
    enum found found = at == cache->associativity ? ABSENT : set[at].version == version ? HIT : STALE;
    if (found == ABSENT) {
        at--;
    }
    memmove(set + 1, set, at * sizeof(struct way));
    set[0] = (struct way){line, version};
    return found;
}

static void restamp(struct cache *cache, uint64_t line, uint32_t version) {
    struct way *set = cache->ways + (line & (cache->sets - 1)) * cache->associativity;
    for (unsigned at = 0; at < cache->associativity; at++) {
        if (set[at].line == line) {
            set[at].version = version;
        }
    }
}

static line_state *state_of(uint64_t line) {
    line_state *_Atomic *place = &chunks[(line >> CHUNK_BITS) % CHUNKS];
    line_state *chunk = atomic_load_explicit(place, memory_order_acquire);
    if (chunk == NULL) {
        line_state *made = calloc(1 << CHUNK_BITS, sizeof(line_state));
        if (made == NULL) {
            abort();
        }
        if (atomic_compare_exchange_strong(place, &chunk, made)) {
            chunk = made;
        } else {
            free(made);
        }
    }
    return chunk + (line & ((1 << CHUNK_BITS) - 1));
}

// Makes a thread the only one with a valid copy of a line, beside the L3s of its domain. Returns the line's version.
static uint32_t become_writer(line_state *state, unsigned number) {
    uint64_t old = atomic_load(state);
    uint64_t new;
    do {
        new = (old & SEEN_BY_ALL) | (uint64_t)number << 24 | ((VERSION(old) + 1) & 0xffffff);
    } while (!atomic_compare_exchange_weak(state, &old, new));
    return VERSION(new);
}

static bool is_only_writer(uint64_t state, unsigned number) { return WRITER(state) == number && !(state & SHARED); }

static uint32_t write_line(struct worker *worker, line_state *state, uint64_t line) {
    struct domain *domain = domains[worker->domain];
    pthread_mutex_lock(&domain->lock);
    uint32_t version = become_writer(state, worker->number);
    for (unsigned size = 0; size < options.sizes; size++) {
        restamp(&domain->l3[size], line, version);
    }
    pthread_mutex_unlock(&domain->lock);
    restamp(&worker->private, line, version);
    return version;
}

static void miss(struct worker *worker, line_state *state, uint64_t line) {
    struct domain *domain = domains[worker->domain];
    uint64_t seen = SEEN(worker->domain);
    pthread_mutex_lock(&domain->lock);
    uint64_t old = atomic_load(state);
    old = atomic_fetch_or(state, WRITER(old) == worker->number ? seen : seen | SHARED);
    for (unsigned size = 0; size < options.sizes; size++) {
        struct l3_counts *counts = &worker->counts.l3[size];
        enum found found = touch(&domain->l3[size], line, VERSION(old));
        counts->hits += found == HIT;
        counts->coherence += found == STALE;
        counts->cold += found == ABSENT && !(old & seen);
        counts->capacity += found == ABSENT && (old & seen);
    }
    pthread_mutex_unlock(&domain->lock);
}

static void reference(struct worker *worker, uint64_t line, bool store) {
    worker->counts.references++;
    line_state *state = line == worker->last_line ? worker->last_state : state_of(line);
    uint64_t now = atomic_load_explicit(state, memory_order_acquire);
    if (line != worker->last_line || VERSION(now) != worker->last_version) {
        enum found found = touch(&worker->private, line, VERSION(now));
        if (found != HIT) {
            worker->counts.misses++;
            worker->counts.invalidated += found == STALE;
            miss(worker, state, line);
            now = atomic_load(state);
        }
        worker->last_line = line;
        worker->last_state = state;
        worker->last_version = VERSION(now);
    }
    if (store && !is_only_writer(now, worker->number)) {
        worker->last_version = write_line(worker, state, line);
    }
}

// The least clock of the other running workers, or the given one.
static uint64_t slowest(const struct worker *asking, uint64_t otherwise) {
    uint64_t least = otherwise;
    unsigned count = atomic_load(&worker_count);
    for (unsigned at = 0; at < count; at++) {
        struct worker *other = atomic_load(&everyone[at]);
        if (other != NULL && other != asking && atomic_load(&other->running) && atomic_load(&other->clock) < least) {
            least = atomic_load(&other->clock);
        }
    }
    return least;
}

static void keep_pace(struct worker *worker) {
    uint64_t clock = atomic_fetch_add(&worker->clock, worker->steps) + worker->steps;
    worker->steps = 0;
    uint64_t before = 0;
    for (int pauses = 0; pauses < PACE_PAUSES; pauses++) {
        uint64_t least = slowest(worker, clock);
        if (clock <= least + options.pace) {
            return;
        }
        if (least != before) {
            pauses = 0;
            before = least;
        }
        nanosleep(&(struct timespec){.tv_nsec = PACE_PAUSE_NANOS}, NULL);
    }
    atomic_fetch_add(&gave_up, 1);
}

static void on_access(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data) {
    (void)cpu, (void)data;
    struct worker *worker = self;
    bool store = qemu_plugin_mem_is_store(info);
    uint64_t line = address >> options.line_bits;
    uint64_t last = (address + (1u << qemu_plugin_mem_size_shift(info)) - 1) >> options.line_bits;
    if (worker == NULL) {
        if (store && atomic_load_explicit(&worker_count, memory_order_relaxed) > 0) {
            for (; line <= last; line++) {
                line_state *state = state_of(line);
                if (!is_only_writer(atomic_load(state), OUTSIDE)) {
                    become_writer(state, OUTSIDE);
                }
            }
        }
        return;
    }
    for (; line <= last; line++) {
        reference(worker, line, store);
    }
    if (options.pace > 0 && ++worker->steps >= PACE_STEP) {
        keep_pace(worker);
    }
}

static void on_block(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
    (void)id;
    for (size_t at = 0; at < qemu_plugin_tb_n_insns(block); at++) {
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, at), on_access, QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_RW, NULL);
    }
}

static void add(struct counts *sum, const struct counts *more, int sign) {
    // Counts are nothing but numbers of 64 bits.
    for (size_t at = 0; at < sizeof(struct counts) / sizeof(uint64_t); at++) {
        ((uint64_t *)sum)[at] += sign * ((const uint64_t *)more)[at];
    }
}

static void begin_section(void) {
    for (unsigned at = 0; at < atomic_load(&worker_count); at++) {
        struct worker *worker = atomic_load(&everyone[at]);
        worker->base = worker->counts;
    }
    gave_up_before = atomic_load(&gave_up);
}

static void print_domain(FILE *out, unsigned domain) {
    struct counts sum = {0};
    for (unsigned at = 0; at < WORKERS; at++) {
        if (workers[domain][at] != NULL) {
            add(&sum, &workers[domain][at]->counts, 1);
            add(&sum, &workers[domain][at]->base, -1);
        }
    }
    fprintf(out, "{\"domain\": %u, \"references\": %lu, \"privateMisses\": %lu, \"invalidated\": %lu, \"l3\": [",
            domain, sum.references, sum.misses, sum.invalidated);
    for (unsigned size = 0; size < options.sizes; size++) {
        const struct l3_counts *l3 = &sum.l3[size];
        fprintf(out, "%s{\"bytes\": %lu, \"hits\": %lu, \"cold\": %lu, \"capacity\": %lu, \"coherence\": %lu}",
                size == 0 ? "" : ", ", options.l3_bytes[size], l3->hits, l3->cold, l3->capacity, l3->coherence);
    }
    fprintf(out, "]}");
}

static void end_section(void) {
    FILE *out = fopen(options.out, "a");
    if (out == NULL) {
        perror(options.out);
        abort();
    }
    fprintf(out, "{\"paceGivenUp\": %lu, \"domains\": [", atomic_load(&gave_up) - gave_up_before);
    const char *separator = "";
    for (unsigned domain = 0; domain < DOMAINS; domain++) {
        if (domains[domain] != NULL) {
            fputs(separator, out);
            print_domain(out, domain);
            separator = ", ";
        }
    }
    fprintf(out, "]}\n");
    fclose(out);
}

static struct domain *new_domain(void) {
    struct domain *domain = calloc(1, sizeof(struct domain));
    for (unsigned size = 0; domain != NULL && size < options.sizes; size++) {
        if (!make_cache(&domain->l3[size], options.l3_bytes[size], options.l3_ways)) {
            return NULL;
        }
    }
    return domain;
}

// A second thread of the same domain and index is on the same core, and goes on with its cache. A thread without an index has its own.
static struct worker *worker_of(unsigned domain, unsigned index) {
    pthread_mutex_lock(&roster);
    while (index >= UNNUMBERED && index < WORKERS - 1 && workers[domain][index] != NULL) {
        index++;
    }
    struct worker *worker = workers[domain][index];
    unsigned number = atomic_load(&worker_count);
    if (worker == NULL && number < OUTSIDE - 1) {
        if (domains[domain] == NULL) {
            domains[domain] = new_domain();
        }
        worker = calloc(1, sizeof(struct worker));
        if (domains[domain] == NULL || worker == NULL ||
            !make_cache(&worker->private, options.private_bytes, options.private_ways)) {
            abort();
        }
        worker->domain = domain;
        // Writer 0 of a line is nobody.
        worker->number = number + 1;
        workers[domain][index] = worker;
        atomic_store(&everyone[number], worker);
        atomic_store(&worker_count, number + 1);
    }
    pthread_mutex_unlock(&roster);
    return worker;
}

static void register_all(qemu_plugin_id_t id);

static void on_name(const char *name) {
    unsigned domain = DOMAINS, index = UNNUMBERED;
    const char *dash = strrchr(name, '-');
    if (strcmp(name, "model-on") == 0) {
        // Blocks that have been translated are translated again.
        qemu_plugin_reset(own_id, register_all);
    } else if (strcmp(name, "count-on") == 0) {
        begin_section();
    } else if (strcmp(name, "count-off") == 0) {
        end_section();
    } else if (strncmp(name, "roost-w", 7) == 0 && dash != NULL && sscanf(dash, "-%u.%u", &domain, &index) > 0 &&
               domain < DOMAINS && index <= UNNUMBERED && (self == NULL || index < UNNUMBERED)) {
        self = worker_of(domain, index);
    }
}

static void on_call(qemu_plugin_id_t id, unsigned cpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                    uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8) {
    (void)id, (void)cpu, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
    renamed = number == PRCTL && a1 == PR_SET_NAME;
    if (self != NULL) {
        atomic_store(&self->running, false);
    }
}

static void on_return(qemu_plugin_id_t id, unsigned cpu, int64_t number, int64_t result) {
    (void)id, (void)cpu, (void)number, (void)result;
    char name[16];
    if (renamed && prctl(PR_GET_NAME, name) == 0) {
        renamed = false;
        on_name(name);
    }
    if (self != NULL) {
        // Who slept is as far as the slowest of the others: nobody waits until it has caught up.
        uint64_t clock = atomic_load(&self->clock);
        uint64_t least = slowest(self, UINT64_MAX);
        if (least != UINT64_MAX && least > clock) {
            atomic_store(&self->clock, least);
        }
        atomic_store(&self->running, true);
    }
}

static void register_calls(qemu_plugin_id_t id) {
    qemu_plugin_register_vcpu_syscall_cb(id, on_call);
    qemu_plugin_register_vcpu_syscall_ret_cb(id, on_return);
}

static void register_all(qemu_plugin_id_t id) {
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
    register_calls(id);
}

static bool is_power_of_two(uint64_t value) { return value > 0 && (value & (value - 1)) == 0; }

static bool is_cache(uint64_t bytes, unsigned ways) {
    return ways > 0 && bytes % (options.line_bytes * ways) == 0 && is_power_of_two(bytes / options.line_bytes / ways);
}

static bool read_option(char *option) {
    char *value = strchr(option, '=');
    if (value == NULL) {
        return false;
    }
    *value++ = 0;
    uint64_t number = strtoull(value, NULL, 10);
    if (strcmp(option, "out") == 0) {
        options.out = strdup(value);
    } else if (strcmp(option, "private") == 0) {
        options.private_bytes = number;
    } else if (strcmp(option, "private-ways") == 0) {
        options.private_ways = number;
    } else if (strcmp(option, "l3") == 0 && options.sizes < SIZES) {
        options.l3_bytes[options.sizes++] = number;
    } else if (strcmp(option, "l3-ways") == 0) {
        options.l3_ways = number;
    } else if (strcmp(option, "line") == 0) {
        options.line_bytes = number;
    } else if (strcmp(option, "pace") == 0) {
        options.pace = number;
    } else {
        return false;
    }
    return true;
}

static bool are_valid(void) {
    bool valid = options.out != NULL && options.sizes > 0 && is_power_of_two(options.line_bytes) &&
                 options.line_bytes >= 32 && is_cache(options.private_bytes, options.private_ways);
    for (unsigned size = 0; size < options.sizes; size++) {
        valid &= is_cache(options.l3_bytes[size], options.l3_ways);
    }
    return valid;
}

int qemu_plugin_version = 1;

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int count, char **given) {
    bool read = true;
    for (int at = 0; at < count; at++) {
        read &= read_option(given[at]);
    }
    if (!read || !are_valid() || strcmp(info->target_name, "x86_64") != 0) {
        fprintf(stderr,
                "cachesim needs out=FILE and at least one l3=BYTES on x86_64; the number of sets of each cache, and the"
                " line of at least 32 bytes, must be powers of two\n");
        return 1;
    }
    options.line_bits = __builtin_ctzll(options.line_bytes);
    own_id = id;
    register_calls(id);
    return 0;
}
