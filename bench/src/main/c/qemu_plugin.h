// The part of QEMU's plugin interface, version 1, that the plugin uses, declared from its documentation.
#ifndef ROOST_QEMU_PLUGIN_H
#define ROOST_QEMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

// Of QEMU's description of itself only the beginning is read.
struct qemu_info {
    const char *target_name;
    struct {
        int min;
        int cur;
    } version;
};

enum { QEMU_PLUGIN_CB_NO_REGS = 0 };
enum { QEMU_PLUGIN_MEM_RW = 3 };

typedef void (*translated)(qemu_plugin_id_t id, struct qemu_plugin_tb *block);
typedef void (*accessed)(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data);
typedef void (*entered)(qemu_plugin_id_t id, unsigned cpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                        uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);
typedef void (*returned)(qemu_plugin_id_t id, unsigned cpu, int64_t number, int64_t result);

void qemu_plugin_reset(qemu_plugin_id_t id, void (*callback)(qemu_plugin_id_t id));
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, translated callback);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, entered callback);
void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t id, returned callback);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *instruction, accessed callback, int flags, int kinds,
                                      void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);

// What QEMU looks up in a plugin.
extern int qemu_plugin_version;
int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int count, char **options);

#endif
