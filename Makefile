# make          build/limn and build/liblimn.a          V=1 shows the commands
# make demo     builds, learns to edit faces, and writes a page to look at: demo/report.html
# make test     everything (SAN=1: under the sanitizers)
# make test-long  what takes minutes: MNIST to the end (SEEDS='0 1 2')
# make examples  every example to the end, against the figures of its header (ONLY='vae gan')
# make bless    the same, and golden files are written anew: read them in the diff
# make check    format, rooms, sanitized tests
# make fuzz     the fuzzers, RUNS inputs each
# make draw-random  pictures of RUNS programs by chance, from seed FIRST on: their faults
# make bench    steps of training against PyTorch's, in turn (BENCH='--threads 1 --only mlp')
# make bench-check  how the time of checking grows with a program
# make bench-draw   how long pictures take, and how that grows
# make bench-gemm     matrix products: GFLOP/s, and the share of what the CPU can do (ARGS: see bench/gemm.c)
# make bench-strip    prebuilt kernels against compiled code
# make bench-machines runs of machines against C, and by size
# make bench-ode      what the solver of rates itself costs
# make bench-gates    machines by ticks: gates a second, rings of cells, wirings of many parts
# make bench-prelude  the functions of compiled code: time and error, for each compiler
# make glyphs   the outlines of letters anew, from the TeX Gyre fonts
# make docs     the pages that limn writes itself
# make gallery  the pictures of docs/figures, and the page that shows them
CC ?= cc
Q := $(if $(V),,@)
JOBS := $(shell nproc 2>/dev/null || echo 2)
BUILD := build$(if $(SAN),/san)
WARN := -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wconversion
SANITIZE := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -DLIMN_GUARD
# Products and sums are rounded one by one, as ISO C has it: clang would fuse them where the CPU can, and gives other numbers then.
CFLAGS := $(WARN) -ffp-contract=off -Isrc -Iinclude -g $(if $(SAN),$(SANITIZE),-O2) $(EXTRA)
export LDLIBS := -lpng -lz -lpthread -lm

SOURCE := $(sort $(shell find src -name "*.c" -not -path "src/cli/*"))
OBJECT := $(SOURCE:src/%.c=$(BUILD)/%.o) $(BUILD)/library.o $(BUILD)/prelude.o
TESTS := $(sort $(wildcard tests/*_test.c))
TEST_BIN := $(TESTS:tests/%.c=$(BUILD)/tests/%)
HELP := $(filter-out $(TESTS),$(sort $(wildcard tests/*.c)))
HELP_OBJ := $(HELP:tests/%.c=$(BUILD)/tests/%.o)

.PHONY: all demo test test-long examples bless check fuzz bench bench-check bench-draw draw-random bench-gemm bench-strip bench-machines bench-gates bench-ode bench-prelude format clean docs gallery glyphs packages rooms
# Two steps, so that packages are there before anything is compiled.
all:
	@CC="$(CC)" tools/packages.sh build
	@$(MAKE) -s --no-print-directory -j$(JOBS) $(BUILD)/limn $(BUILD)/liblimn.a
.SECONDARY:

$(BUILD)/limn: $(BUILD)/cli/main.o $(BUILD)/liblimn.a
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)
	@echo "$@"
$(BUILD)/liblimn.a: $(OBJECT)
	$(Q)rm -f $@ && ar rcs $@ $^
$(BUILD)/library.c: $(sort $(wildcard lib/*.limn)) tools/embed.sh
	@mkdir -p $(@D)
	$(Q)tools/embed.sh lang/program/library.h limn_library $(sort $(wildcard lib/*.limn)) > $@
$(BUILD)/prelude.c: $(wildcard src/run/engine/prelude/prelude*.h) tools/embed.sh
	@mkdir -p $(@D)
	$(Q)tools/embed.sh run/engine/prelude/prelude_text.h prelude_text src/run/engine/prelude/prelude.h > $@
$(BUILD)/library.o $(BUILD)/prelude.o: %.o: %.c
	$(Q)$(CC) $(CFLAGS) -c -o $@ $<
$(BUILD)/%.o: src/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -MMD -MP -c -o $@ $<
# Rows are converted with wide instructions.
$(BUILD)/io/data/%.o: CFLAGS += $(if $(SAN),,-O3)
# Prebuilt loops: a copy for each kind of CPU, chosen when limn runs.
LOOP_FLAGS := -O3 -fno-math-errno -fno-trapping-math -fopenmp-simd
$(BUILD)/run/engine/strip/strip_plain.o $(BUILD)/run/engine/strip/strip_avx2.o $(BUILD)/run/engine/strip/strip_avx512.o: CFLAGS += $(LOOP_FLAGS)
ifneq ($(findstring x86_64,$(shell $(CC) -dumpmachine)),)
$(BUILD)/run/engine/strip/strip_avx2.o: CFLAGS += -mavx2 -mfma
$(BUILD)/run/engine/strip/strip_avx512.o: CFLAGS += -mavx2 -mfma -mavx512f -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512
endif
$(BUILD)/tests/%.o: tests/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -Itests -MMD -MP -c -o $@ $<
$(BUILD)/tests/%_test: $(BUILD)/tests/%_test.o $(HELP_OBJ) $(BUILD)/liblimn.a
	$(Q)$(CC) $(CFLAGS) -o $@ $^ -lcmocka $(LDLIBS)
-include $(shell find build -name '*.d' 2>/dev/null)

demo: all
	@tools/demo.sh $(BUILD)/limn
packages:
	@CC="$(CC)" tools/packages.sh test

test: packages
	@$(MAKE) -s --no-print-directory -j$(JOBS) $(BUILD)/limn $(TEST_BIN)
	@tests/run.sh $(BUILD)
test-long: all
	@LONG=1 LIMN=$(CURDIR)/$(BUILD)/limn BUILD=$(BUILD) tests/mnist/test.sh
examples: all
	@CC="$(CC)" tools/packages.sh test
	@LIMN=$(CURDIR)/$(BUILD)/limn BUILD=$(BUILD) sh tests/examples/full.sh
bless: packages
	@$(MAKE) -s --no-print-directory -j$(JOBS) $(BUILD)/limn $(TEST_BIN)
	@tests/run.sh $(BUILD) --bless
draw-random: packages
	@$(MAKE) -s --no-print-directory -j$(JOBS) $(BUILD)/tests/pictures_test
	@$(BUILD)/tests/pictures_test random $(or $(FIRST),1) $(if $(filter file,$(origin RUNS)),1000,$(RUNS))
rooms:
	@tools/rooms.sh $(BUILD)
format:
	@tools/packages.sh format
	clang-format -i $(shell find src -name "*.[ch]") $(wildcard include/*.h tests/*.[ch] tests/fuzz/*.c)
check: rooms
	@tools/packages.sh format
	clang-format --dry-run -Werror $(shell find src -name "*.[ch]") $(wildcard include/*.h tests/*.[ch] tests/fuzz/*.c)
	@$(MAKE) --no-print-directory SAN=1 test
# The fuzzers: each harness of tests/fuzz gets RUNS inputs. What they keep stays in build/fuzz/corpus, what they find in build/fuzz.
# Only the readers of files are watched comparison by comparison: the language has its own mutations.
RUNS ?= 100000
FUZZ_FLAGS := -std=c11 -g -O1 -Isrc -Iinclude -Itests/fuzz -DLIMN_GUARD -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZERS := $(patsubst tests/fuzz/%.c,build/fuzz/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_OBJECT := $(SOURCE:src/%.c=build/fuzz/%.o) build/fuzz/library.o build/fuzz/prelude.o
build/fuzz/%.o: src/%.c
	@mkdir -p $(@D)
	$(Q)clang $(FUZZ_FLAGS) $(if $(filter build/fuzz/io/bytes/%,$@),-fsanitize=fuzzer-no-link,-fsanitize-coverage=inline-8bit-counters,pc-table) -MMD -MP -c -o $@ $<
build/fuzz/library.o build/fuzz/prelude.o: build/fuzz/%.o: build/%.c
	@mkdir -p $(@D)
	$(Q)clang $(FUZZ_FLAGS) -c -o $@ $<
build/fuzz/fuzz_%: tests/fuzz/fuzz_%.c tests/fuzz/tokens.h $(FUZZ_OBJECT)
	$(Q)clang $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $< $(FUZZ_OBJECT) $(LDLIBS)
fuzz:
	@tools/packages.sh fuzz
	@$(MAKE) -s --no-print-directory -j$(JOBS) build/library.c build/prelude.c $(FUZZERS)
	@for f in $(FUZZERS); do tests/fuzz/run.sh $$f $(RUNS) || exit 1; done
bench:
	@$(MAKE) -s --no-print-directory -j$(JOBS) $(BUILD)/limn $(BUILD)/bench-step
	@bench/run.sh --build $(BUILD) $(BENCH)
bench-draw: all
	@bench/draw.sh $(BUILD)/limn
bench-machines: all
	@bench/machines.sh $(BUILD)/limn
bench-check: all
	@bench/check.sh $(BUILD)/limn
$(BUILD)/bench-step: bench/step.c $(BUILD)/liblimn.a
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/bench-gemm: bench/gemm.c $(BUILD)/liblimn.a
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)
bench-gemm: $(BUILD)/bench-gemm
	@$(BUILD)/bench-gemm $(ARGS)
$(BUILD)/bench-strip: bench/strip.c $(BUILD)/liblimn.a
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)
bench-strip: $(BUILD)/bench-strip
	@$(BUILD)/bench-strip $(ARGS)
$(BUILD)/bench-ode: bench/ode.c $(BUILD)/liblimn.a
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)
bench-gates: all
	@LIMN=$(CURDIR)/$(BUILD)/limn bench/gates.sh
bench-ode: $(BUILD)/bench-ode
	@$(BUILD)/bench-ode $(ARGS)
# As generated code is compiled. On aarch64, clang's native goes by the CPU's name, and a virtual machine may hide SVE.
STEP_FLAGS := -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -fopenmp-simd -fno-semantic-interposition \
  $(if $(filter x86_64,$(shell uname -m)),-march=native -mprefer-vector-width=512) \
  $(if $(filter aarch64,$(shell uname -m)),-march=armv8-a$(if $(shell grep -sw sve /proc/cpuinfo),+sve) -mtune=native)
bench-prelude:
	@mkdir -p build
	@for cc in gcc clang; do command -v $$cc >/dev/null || continue; echo "$$cc"; \
	  $$cc $(STEP_FLAGS) -Isrc -o build/bench-prelude bench/prelude.c -lm && build/bench-prelude || exit 1; done
FONTS ?= /usr/share/texmf/fonts/opentype/public
glyphs:
	@tools/packages.sh glyphs
	@mkdir -p build
	$(Q)$(CC) $(WARN) -O1 $$(pkg-config --cflags freetype2) -o build/glyphs tools/glyphs.c -lfreetype -lm
	$(Q)build/glyphs $(FONTS) > build/glyphs.inc
	$(Q)mv build/glyphs.inc src/show/canvas/glyphs.inc
docs: all
	$(BUILD)/limn ops > docs/ops.md
	tools/files.sh > docs/files.md
	$(BUILD)/limn draw examples/lens.limn -o docs/pictures/lens.svg
	$(BUILD)/limn draw examples/attention.limn multihead -o docs/pictures/multihead.svg
	$(BUILD)/limn draw examples/transformer.limn model -o docs/pictures/transformer.svg
	$(BUILD)/limn draw examples/distill.limn distill -o docs/pictures/distill.svg
	$(BUILD)/limn draw examples/dils.limn Team -o docs/pictures/team.svg
	-$(BUILD)/limn draw docs/figures/mistake.limn attend -o docs/pictures/mistake.svg 2>/dev/null
gallery: all
	@tools/gallery.sh $(BUILD)/limn

clean:
	rm -rf build
