# Builds the C kernels of a module as libroost_$(NAME).so in $(OUT)/linux-<machine>, and beside it the checksum that loading
# compares. The other machine's library is built where a cross compiler is, so that one jar serves both. Without a C compiler
# for this machine it prints a message and succeeds, and Java code is used instead. An including Makefile first defines:
#   NAME                 name of the library
#   SERVES               the end of that message: the work that Java does without the library
#   UNITS                sources for every machine, without .c
#   UNITS_<machine>      additional sources for one machine
#   MACHINES             the machines; by default this one and those of a release
# The name of a source for one instruction set ends with that set: scan_avx2.c.
OUT ?= build
OBJ ?= $(OUT)/obj
CC ?= cc
MACHINE := $(shell uname -m)
RELEASED := x86_64 aarch64
MACHINES ?= $(sort $(MACHINE) $(RELEASED))
COMMON := $(dir $(lastword $(MAKEFILE_LIST)))
HEADERS := $(wildcard *.h $(COMMON)*.h)
CFLAGS ?= -O3 -Wall -Wextra
# A function without a prototype must be static, so that the headers declare every function that Java can bind.
# Contraction is off because kernels choose fused operations explicitly, and all kernels must give the same bits.
ALL_CFLAGS := $(CFLAGS) -std=gnu11 -Werror=missing-prototypes -fPIC -fvisibility=default -ffp-contract=off -fno-math-errno -I$(COMMON)
# What isa.h detects.
FLAGS_avx2 := -mavx2 -mfma -mf16c
FLAGS_avx512 := -mavx512f -mavx512dq -mavx512bw
FLAGS_vnni := $(FLAGS_avx512) -mavx512vnni
FLAGS_dot := -march=armv8.2-a+dotprod

compiler = $(if $(filter $(MACHINE),$1),$(CC),$1-linux-gnu-gcc)
library = $(OUT)/linux-$1/libroost_$(NAME).so
# Of this machine first, whose kernels a developer waits for.
COMPILED := $(foreach machine,$(filter $(MACHINE),$(MACHINES)) $(filter-out $(MACHINE),$(MACHINES)),\
	$(if $(shell command -v $(call compiler,$(machine))),$(machine)))

.DELETE_ON_ERROR:
.PHONY: all
all: $(foreach machine,$(COMPILED),$(call library,$(machine)).sha256)
ifeq ($(filter $(MACHINE),$(COMPILED)),)
	@echo "no C compiler ($(CC)): $(SERVES)"
endif

%.sha256: %
	@sha256sum < $< | cut -d ' ' -f 1 > $@

define rules
$(call library,$1): $(patsubst %,$(OBJ)/$1/%.o,$(UNITS) $(UNITS_$1))
	@mkdir -p $$(dir $$@)
	$(call compiler,$1) -shared -o $$@ $$^ -lm

$(OBJ)/$1/%.o: %.c $(HEADERS)
	@mkdir -p $$(dir $$@)
	$(call compiler,$1) $(ALL_CFLAGS) $$(FLAGS_$$(lastword $$(subst _, ,$$*))) -c -o $$@ $$<
endef
$(foreach machine,$(COMPILED),$(eval $(call rules,$(machine))))
