# Builds libroost_$(NAME).so of C kernels into $(OUT)/linux-<machine>. Without a C compiler it says so and succeeds: Java
# serves. An including Makefile names, before:
#   NAME                 of the library
#   SERVES               what Java does without it
#   UNITS                sources for every machine, without .c
#   UNITS_<machine>      further ones for one machine
#   FLAGS_<unit>         flags of one source: its instruction set
OUT ?= build
OBJ ?= $(OUT)/obj
CC ?= cc
MACHINE := $(shell uname -m)
COMMON := $(dir $(lastword $(MAKEFILE_LIST)))
LIBRARY := $(OUT)/linux-$(MACHINE)/libroost_$(NAME).so
CFLAGS ?= -O3 -Wall -Wextra
# A function without a prototype must be static: so a header declares all that Java can bind.
# Contraction is off because a kernel names its fused operations itself, and all must give the same bits.
ALL_CFLAGS := $(CFLAGS) -std=gnu11 -Werror=missing-prototypes -fPIC -fvisibility=default -ffp-contract=off -fno-math-errno -I$(COMMON)
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
	$(CC) $(ALL_CFLAGS) $(FLAGS_$*) -c -o $@ $<
