# Builds the C kernels of a module as libroost_$(NAME).so in $(OUT)/linux-<machine>. Without a C compiler it prints a message
# and succeeds, and Java code is used instead. An including Makefile first defines:
#   NAME                 name of the library
#   SERVES               the end of that message: the work that Java does without the library
#   UNITS                sources for every machine, without .c
#   UNITS_<machine>      additional sources for one machine
# The name of a source for one instruction set ends with that set: scan_avx2.c.
OUT ?= build
OBJ ?= $(OUT)/obj
CC ?= cc
MACHINE := $(shell uname -m)
COMMON := $(dir $(lastword $(MAKEFILE_LIST)))
LIBRARY := $(OUT)/linux-$(MACHINE)/libroost_$(NAME).so
CFLAGS ?= -O3 -Wall -Wextra
# A function without a prototype must be static, so that the headers declare every function that Java can bind.
# Contraction is off because kernels choose fused operations explicitly, and all kernels must give the same bits.
ALL_CFLAGS := $(CFLAGS) -std=gnu11 -Werror=missing-prototypes -fPIC -fvisibility=default -ffp-contract=off -fno-math-errno -I$(COMMON)
# What isa.h detects.
FLAGS_avx2 := -mavx2 -mfma -mf16c
FLAGS_avx512 := -mavx512f -mavx512dq -mavx512bw
FLAGS_vnni := $(FLAGS_avx512) -mavx512vnni
FLAGS_dot := -march=armv8.2-a+dotprod
OBJECTS := $(patsubst %,$(OBJ)/%.o,$(UNITS) $(UNITS_$(MACHINE)))

.PHONY: all
ifeq ($(shell command -v $(CC)),)
all:
	@echo "no C compiler ($(CC)): $(SERVES)"
else
all: $(LIBRARY)
endif

$(LIBRARY): $(OBJECTS)
	@mkdir -p $(dir $@)
	$(CC) -shared -o $@ $^ -lm

$(OBJ)/%.o: %.c $(wildcard *.h $(COMMON)*.h)
	@mkdir -p $(dir $@)
	$(CC) $(ALL_CFLAGS) $(FLAGS_$(lastword $(subst _, ,$*))) -c -o $@ $<
