/*
 * Injects a fault into one call that changes a file in a folder: the call fails or the process ends, for tests of the remaining
 * files. Loaded by LD_PRELOAD.
 *
 * ROOST_FAULT_FOLDER: the folder; calls for other files are not affected.
 * ROOST_FAULT_CONTROL: a file of two int32 in the machine's byte order, which the test changes while the process runs: the number
 * of calls before the one that fails, and its errno. With an errno of 0 calls are only counted; with -1 the process ends as by
 * kill -9.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

static volatile int32_t *control;
static const char *folder;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("ROOST_FAULT_CONTROL");
    folder = getenv("ROOST_FAULT_FOLDER");
    if (path == NULL || folder == NULL) {
        return;
    }
    int fd = open(path, O_RDWR);
    if (fd >= 0) {
        void *at = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        control = at == MAP_FAILED ? NULL : at;
        close(fd);
    }
}

static int fails(const char *path) {
    if (control == NULL || strncmp(path, folder, strlen(folder)) != 0) {
        return 0;
    }
    if (__atomic_fetch_sub(&control[0], 1, __ATOMIC_SEQ_CST) != 0 || control[1] == 0) {
        return 0;
    }
    if (control[1] == -1) {
        raise(SIGKILL);
    }
    errno = control[1];
    return 1;
}

static int fd_fails(int fd) {
    char link[64];
    char path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = control == NULL ? -1 : readlink(link, path, sizeof path - 1);
    if (length < 0) {
        return 0;
    }
    path[length] = 0;
    return fails(path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *bytes, size_t count) { return fd_fails(fd) ? -1 : REAL(write)(fd, bytes, count); }

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
    return fd_fails(fd) ? -1 : REAL(pwrite64)(fd, bytes, count, at);
}

int fsync(int fd) { return fd_fails(fd) ? -1 : REAL(fsync)(fd); }

int fdatasync(int fd) { return fd_fails(fd) ? -1 : REAL(fdatasync)(fd); }

int rename(const char *from, const char *to) { return fails(to) ? -1 : REAL(rename)(from, to); }

int unlink(const char *path) { return fails(path) ? -1 : REAL(unlink)(path); }
