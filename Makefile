# make          builds build/limn, build/liblimn.a and the shared library; installs nothing; V=1 prints the commands
# make install  installs limn, the libraries, man pages, completions, editor files, docs and examples: PREFIX=/usr/local DESTDIR=
# make uninstall  removes what `make install` installed
# make help     prints this list
# make deb      builds the Debian packages build/limn_VERSION_ARCH.deb and build/python3-limn_VERSION_all.deb
# make python   builds the Python module, which contains the library, as a wheel: build/python/limn-VERSION-….whl
# make playground  builds the studio's page with the library as WebAssembly, to be served as static files: build/playground; needs clang
# make vsix     builds the extension for Visual Studio Code: build/limn-VERSION.vsix
# make studio-page  rebuilds the studio's page studio/dist from studio/src; needs npm
# make deps     installs the Debian packages that building and testing need
# make demo     builds limn, trains a model that edits faces, and writes a report: demo/report.html
# make test     runs all tests (FULL=1: more and larger programs, twice the time; SAN=1: with sanitizers; ONLY=draw,cli,block_test: some of them; JOBS=2: how many in parallel)
# make test-gpu   tests the engine on a real NVIDIA GPU
# make test-models  imports and trains models exported by PyTorch: MODELS='vae lstm', or all
# make test-long  runs the tests that take minutes: MNIST to the last epoch (SEEDS='0 1 2')
# make test-studio  tests the whole studio page in a browser (SHOTS=FOLDER: saves screenshots)
# make test-c   exports every learner and training step of the examples as C and tests it, also on an emulated Cortex-M and as WebAssembly
# make test-python-out  exports every learner and program of the examples as Python; compares values, gradients and ten steps in PyTorch
# make test-onnx  exports every learner and box of the examples as ONNX and runs it in ONNX Runtime (npm's onnxruntime-node)
# make test-json  exports every learner and box of the examples and the library as JSON and reads it back: same diagram, same values
# make test-playground  tests the WebAssembly library in node: its language server, and training with reference losses
# make test-python  tests the Python module with PyTorch, its packages and a notebook
# make examples  trains every example completely and compares the results with the figures in its header (ONLY='vae gan')
# make coverage  measures line and branch coverage of the tests by room, and lists the ten files with the least (ONLY=cli,whole: by these tests)
# make tsan     runs the library in 8 threads with ThreadSanitizer
# make bless    runs the tests and rewrites the golden files; read the differences
# make check    checks formatting and rooms, and runs the tests with sanitizers
# make fuzz     runs the fuzzers on all cores for SECONDS=300 in total (FUZZ='json csv': some of them); needs clang
# make fuzz-plain  runs the fuzzers without libFuzzer, with any compiler (SAN=1: with sanitizers)
# make torture  injects every kind of fault everywhere and prints a table: SECONDS=600 in total, or RUNS=1000 FIRST=0 ONLY=calls SEED=1
# make laws     tests laws on RUNS random programs, from seed FIRST (LAW=batch: one law; LAW=doors: every export; LAW=hybrid: hybrid systems; see tests/laws.sh)
# make draw-random  draws RUNS random programs, from seed FIRST, and lists the faults of their pictures
# make onnx     imports ONNX's node tests and prints a table by operator: NODES=FOLDER
# make onnx-damage  damages the same tests so that they are no valid ONNX models; `limn import` must refuse all (minutes)
# make bench    measures training steps, alternating with PyTorch's (BENCH='--threads 1 --only mlp')
# make bench-c  measures the same steps exported as C against compiled by limn (ARGS='mlp conv')
# make bench-check  measures how the time of `limn check` grows with the program
# make bench-lsp    measures the language server's requests in files of 30 to 10000 lines
# make bench-studio measures the studio's page: latency from key to picture, frames while dragging (MINUTES=60: automatic typing)
# make bench-draw   measures the time of drawing and how it grows
# make bench-gemm   measures matrix products: GFLOP/s and share of the CPU's peak (ARGS: see bench/gemm.c)
# make bench-strip    measures prebuilt kernels against compiled kernels
# make bench-machines measures runs of machines against C, and by size
# make bench-stiff    measures the stiff integrator against CVODE
# make bench-neurons  measures events per second against C
# make bench-ode      measures the overhead of the ODE solver
# make bench-gates    measures machines in discrete time: gates per second, rings of cells, wirings of many parts
# make bench-prelude  measures time and error of the scalar functions in compiled code, by compiler
# make film     takes the pictures of docs/studio.md in a browser (SCENES='gan nash'; needs chromium and imagemagick)
# make glyphs   regenerates the outlines of letters from the TeX Gyre fonts
# make docs     regenerates the generated pages of docs
# make gallery  regenerates the pictures of docs/figures and docs/gallery.md
#
# CC AR CFLAGS CPPFLAGS LDFLAGS are respected, also from the environment; CFLAGS come after the Makefile's flags. When flags change,
# everything is rebuilt. Requires GNU make. Recipes use POSIX tools; parts for one system only are marked with its name.
CC ?= cc
OBJCOPY ?= objcopy
PKG_CONFIG ?= pkg-config
# Disables make's built-in rules: no target uses them, and searching them took most of make's time.
MAKEFLAGS += -r
Q := $(if $(V),,@)
JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
SYSTEM := $(shell uname -s)
BUILD := build$(if $(SAN),/san)
VERSION := $(shell sed -n 's/^\#define LIMN_VERSION "\(.*\)"/\1/p' include/limn.h)
MAJOR := $(firstword $(subst ., ,$(VERSION)))

WARN := -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wconversion
SANITIZE := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -DLIMN_GUARD
# Flags for libpng and zlib from pkg-config; without it, the compiler's default paths.
IMAGE_CFLAGS := $(shell $(PKG_CONFIG) --cflags libpng zlib 2>/dev/null)
IMAGE_LIBS := $(or $(shell $(PKG_CONFIG) --libs libpng zlib 2>/dev/null),-lpng -lz)
export LDLIBS := $(IMAGE_LIBS) -lpthread $(if $(filter Linux,$(SYSTEM)),-ldl) -lm
# -ffp-contract=off: each product and sum is rounded, as in ISO C; clang would contract them to fused multiply-adds, which changes results.
# -fvisibility=hidden: the library exports only the symbols of limn.h. Debugging information has paths relative to the source root.
OWN := $(WARN) -ffp-contract=off -Isrc -Iinclude -g $(if $(SAN),$(SANITIZE),-O2) -fPIC -fvisibility=hidden -ffile-prefix-map=$(CURDIR)=. $(IMAGE_CFLAGS)
# Hardening flags that the compiler and linker support; none with sanitizers, which check more. _FORTIFY_SOURCE needs optimisation,
# and is left alone if CPPFLAGS or CFLAGS set it.
HARDEN := $(if $(SAN),,$(shell tools/harden.sh $(BUILD)/harden $(CC)))
harden = $(patsubst $1:%,%,$(filter $1:%,$(HARDEN)))
HARD = $(filter-out $(if $(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS))$(filter -O0,$(CPPFLAGS) $(CFLAGS)),%_FORTIFY_SOURCE %_FORTIFY_SOURCE=2 %_FORTIFY_SOURCE=3),$(call harden,compile))
# No link-time optimisation: `objcopy --localize-hidden` needs the symbols of the object that `ld -r` makes.
GIVEN = $(CPPFLAGS) $(CFLAGS) $(if $(findstring -flto,$(CFLAGS)),-fno-lto)
COMPILE = $(CC) $(OWN) $(HARD) $(GIVEN) $(SPECIAL)
LINK = $(CC) $(OWN) $(HARD) $(GIVEN) $(call harden,link) $(LDFLAGS)

SOURCE := $(sort $(shell find src -name "*.c" -not -path "src/cli/*" -not -path "src/studio/*"))
# Texts that are embedded in the library.
EMBEDDED := library prelude product_text team_text tiles_text stripes_text units_text torch_training jax_training torch_file jax_file report_style report_style_runs report_script build_id
OBJECT := $(SOURCE:src/%.c=$(BUILD)/%.o) $(EMBEDDED:%=$(BUILD)/%.o)
# The studio needs libmicrohttpd; without it `limn studio` prints that it is missing.
HTTP_LIBS := $(shell $(PKG_CONFIG) --libs libmicrohttpd 2>/dev/null)
export HTTP_LIBS
# Only the studio opens it, when it starts: the libraries that it needs itself took a quarter of the time of every start of limn. Where its
# file name cannot be read (macOS, a static library), it is linked.
HTTP_SONAME := $(if $(HTTP_LIBS),$(shell objdump -p "$$($(PKG_CONFIG) --variable=libdir libmicrohttpd)/libmicrohttpd.so" 2>/dev/null | awk '$$1 == "SONAME" { print $$2 }'))
HTTP_CFLAGS := $(if $(HTTP_LIBS),-DLIMN_HTTP $(if $(HTTP_SONAME),-DLIMN_HTTP_LIBRARY='"$(HTTP_SONAME)"') $(shell $(PKG_CONFIG) --cflags libmicrohttpd 2>/dev/null))
STUDIO := $(if $(HTTP_LIBS),$(patsubst src/%.c,$(BUILD)/%.o,$(sort $(wildcard src/studio/*.c))) $(BUILD)/studio/page_files.o $(BUILD)/studio/example_files.o)
GROUND := $(patsubst src/%.c,$(BUILD)/%.o,$(sort $(wildcard src/base/*.c src/io/bytes/*.c src/rpc/*.c)))
CLI := $(patsubst src/%.c,$(BUILD)/%.o,$(sort $(wildcard src/cli/*.c))) $(BUILD)/cli/commands_text.o $(STUDIO)
TESTS := $(sort $(wildcard tests/*_test.c))
TEST_BIN := $(TESTS:tests/%.c=$(BUILD)/tests/%)
HELP := $(filter-out $(TESTS),$(sort $(wildcard tests/*.c)))
HELP_OBJ := $(HELP:tests/%.c=$(BUILD)/tests/%.o)
# Functions that read, validate and compare diagrams, shared by tests, fuzzers and benchmarks.
DIAGRAM_HELP := $(patsubst %,tests/diagram_%.c,equal lex read scalar valid)
# Names and linker flags of shared libraries differ on macOS.
ifeq ($(SYSTEM),Darwin)
SHARED := liblimn.$(VERSION).dylib
SHARED_MAJOR := liblimn.$(MAJOR).dylib
SHARED_LINK := liblimn.dylib
SHARED_FLAGS := -dynamiclib -install_name @rpath/$(SHARED_MAJOR) -current_version $(VERSION) -compatibility_version $(MAJOR)
else
SHARED := liblimn.so.$(VERSION)
SHARED_MAJOR := liblimn.so.$(MAJOR)
SHARED_LINK := liblimn.so
SHARED_FLAGS := -shared -Wl,-soname,$(SHARED_MAJOR) # the sanitizers' own functions stay open
ifndef SAN
SHARED_FLAGS += -Wl,-z,defs
endif
endif
PRODUCTS := $(BUILD)/limn $(BUILD)/liblimn.a $(BUILD)/$(SHARED_LINK)

.PHONY: FORCE all bless check clean deb demo deps deps-build docs draw-random examples format format-check fuzz
.PHONY: film fuzz-plain gallery glyphs help install laws onnx onnx-damage packages playground playground-without python rooms shape shapes share studio-page torture uninstall vsix
.PHONY: announced coverage tsan test tested test-c test-json test-long test-models test-onnx test-playground test-python test-python-out test-studio
.PHONY: bench bench-c bench-check bench-draw bench-gates bench-gemm bench-lsp bench-machines bench-neurons bench-ode bench-prelude bench-stiff bench-strip bench-studio
# Runs a second make in parallel on all cores, unless -j is given.
PARALLEL = $(MAKE) -s --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))
all:
	+@$(PARALLEL) $(PRODUCTS)
# Prints the comment at the head of this file.
help:
	@sed -n '/^[^\#]/q; s/^# \{0,1\}//p' Makefile
.SECONDARY:

# If flags or compiler change, everything is rebuilt; before that, packages.sh checks that the needed packages are installed.
FLAGS = $(filter-out ccache,$(CC)) $(AR) $(OWN) $(HARD) $(GIVEN) $(call harden,link) $(LDFLAGS) $(LDLIBS) $(LOOP_FLAGS)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS))' >$@.new
	@if cmp -s $@.new $@; then rm -f $@.new; else CC="$(CC)" CPPFLAGS="$(IMAGE_CFLAGS) $(CPPFLAGS) $(CFLAGS)" tools/packages.sh --look build && mv $@.new $@; fi

# The command line links the public library. The studio also links base, io/bytes and rpc, whose symbols the library hides.
$(BUILD)/limn: $(CLI) $(BUILD)/liblimn.a $(if $(STUDIO),$(BUILD)/libground.a)
	$(Q)$(LINK) $(call harden,program) -o $@ $^ $(if $(HTTP_SONAME),,$(HTTP_LIBS)) $(LDLIBS)
	@echo "$@"
$(BUILD)/libground.a: $(GROUND)
	$(Q)rm -f $@ && $(ARCHIVE) $@ $^
# The built page of studio/dist, and the manual, which the page shows.
PAGE := $(sort $(wildcard studio/dist/* studio/dist/*/*))
$(BUILD)/studio/page_files.c: $(PAGE) docs/language.md tools/embed_files.sh Makefile
	@mkdir -p $(@D)
	$(Q)rm -rf $(@D)/page && cp -r studio/dist $(@D)/page && gzip -9nc docs/language.md >$(@D)/page/manual.gz
	$(Q)tools/embed_files.sh studio/studio_own.h page $(@D)/page >$@
$(BUILD)/studio/example_files.c: $(sort $(wildcard examples/*.limn)) tools/embed_files.sh Makefile
	@mkdir -p $(@D)
	$(Q)tools/embed_files.sh studio/studio_own.h example examples '*.limn' >$@
$(BUILD)/studio/page_files.o $(BUILD)/studio/example_files.o: %.o: %.c $(BUILD)/flags
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<
# Rebuilds the studio if libmicrohttpd is installed or removed.
$(BUILD)/http: FORCE
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(HTTP_CFLAGS)) $(HTTP_LIBS)' >$@.new; if cmp -s $@.new $@; then rm -f $@.new; else mv $@.new $@; fi
$(STUDIO) $(BUILD)/cli/studio.o: SPECIAL += $(HTTP_CFLAGS)
$(STUDIO) $(BUILD)/cli/studio.o: $(BUILD)/http
# The library as one object, in which only limn_* is global. (On macOS `ld -r` makes hidden symbols local.)
$(BUILD)/liblimn.a: $(BUILD)/liblimn.o
	$(Q)rm -f $@ && $(ARCHIVE) $@ $^
$(BUILD)/liblimn.o: $(OBJECT)
	$(Q)$(CC) $(filter -m%,$(CFLAGS)) -nostdlib -r -o $@ $^
ifneq ($(SYSTEM),Darwin)
	$(Q)$(OBJCOPY) --localize-hidden $@ || echo "$(OBJCOPY) cannot hide names: those inside liblimn.a may clash with a host's"
endif
# The library with all internal functions visible, for the tests.
$(BUILD)/libinner.a: $(OBJECT)
	$(Q)rm -f $@ && $(ARCHIVE) $@ $^
$(BUILD)/$(SHARED): $(OBJECT)
	$(Q)$(LINK) $(SHARED_FLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/$(SHARED_LINK): $(BUILD)/$(SHARED)
	$(Q)ln -sf $(SHARED) $(BUILD)/$(SHARED_MAJOR) && ln -sf $(SHARED_MAJOR) $@
# Archives without dates. (On macOS by a variable.)
ARCHIVE := $(AR) $(if $(filter Darwin,$(SYSTEM)),rcs,rcsD)
export ZERO_AR_DATE := 1

# The names of the scalar functions are a file of their own, written only when a name is new: other columns of ops.def touch few objects.
src/core/diagram/fn_names.def: src/core/diagram/ops.def
	$(Q){ sed -n 1p $@; sed -n 's/^S(\([a-z_0-9]*\),.*/FN(\1)/p' $<; } >$(BUILD)/fn_names.new
	$(Q)if cmp -s $(BUILD)/fn_names.new $@; then rm $(BUILD)/fn_names.new; else mv $(BUILD)/fn_names.new $@; fi
$(OBJECT): | src/core/diagram/fn_names.def
src/core/diagram/fn_names.def: | $(BUILD)/flags
$(BUILD)/library.c: $(sort $(wildcard lib/*.limn)) tools/embed.sh Makefile
	@mkdir -p $(@D)
	$(Q)tools/embed.sh lang/program/library.h limn_library $(sort $(wildcard lib/*.limn)) >$@
$(BUILD)/prelude.c: src/run/engine/kernel/prelude.h tools/embed.sh Makefile
	@mkdir -p $(@D)
	$(Q)DEPENDS=$(BUILD)/prelude.c.d tools/embed.sh run/engine/kernel/prelude_text.h prelude_text src/run/engine/kernel/prelude.h >$@
$(BUILD)/product_text.c: src/port/c/product_text.h tools/embed.sh Makefile
	@mkdir -p $(@D)
	$(Q)tools/embed.sh port/c/c_own.h product_text src/port/c/product_text.h >$@
$(BUILD)/team_text.c $(BUILD)/tiles_text.c $(BUILD)/stripes_text.c $(BUILD)/units_text.c: $(BUILD)/%_text.c: src/run/engine/cuda/%.h tools/embed.sh Makefile
	@mkdir -p $(@D)
	$(Q)tools/embed.sh run/engine/cuda/cuda.h $*_text $< >$@
$(BUILD)/cli/commands_text.c: src/cli/commands.txt tools/embed.sh Makefile
	@mkdir -p $(@D)
	$(Q)tools/embed.sh cli/cli.h command_text src/cli/commands.txt >$@
$(BUILD)/torch_training.c $(BUILD)/jax_training.c: src/port/python/shared_training.py
$(BUILD)/torch_file.c $(BUILD)/jax_file.c: src/port/python/shared_file.py
$(BUILD)/torch_training.c $(BUILD)/jax_training.c $(BUILD)/torch_file.c $(BUILD)/jax_file.c: $(BUILD)/%.c: src/port/python/%.py tools/embed.sh Makefile
	@mkdir -p $(@D)
	$(Q)tools/embed.sh port/python/python_own.h $* $(filter %.py,$^) >$@
# report_style is src/show/report/style.css.
$(BUILD)/report_style.c $(BUILD)/report_style_runs.c: FORM = css
$(BUILD)/report_script.c: FORM = js
$(BUILD)/report_style.c: src/show/report/style.css
$(BUILD)/report_style_runs.c: src/show/report/style_runs.css
$(BUILD)/report_script.c: src/show/report/script.js
$(BUILD)/report_style.c $(BUILD)/report_style_runs.c $(BUILD)/report_script.c: $(BUILD)/report_%.c: tools/embed.sh Makefile
	@mkdir -p $(@D)
	$(Q)tools/embed.sh show/report/report_own.h report_$* src/show/report/$*.$(FORM) >$@
# The build id: a checksum of the sources, the compiler and the flags, independent of paths.
BUILT_FROM := $(sort $(shell find src lib include -type f))
$(BUILD)/build_id.c: $(BUILT_FROM) $(BUILD)/flags Makefile
	@mkdir -p $(@D)
	$(Q){ cat $(BUILT_FROM); $(CC) --version; echo '$(subst ','\'',$(GIVEN) $(SAN))'; } | cksum >$@.sum
	$(Q)cat $(BUILT_FROM) | tail -c +2 | cksum >>$@.sum
	$(Q)awk 'BEGIN { print "#include \"base/version.h\""; printf "const char build_id[] = \"" } { printf "%08x", $$1 } END { print "\";" }' $@.sum >$@
$(EMBEDDED:%=$(BUILD)/%.o) $(BUILD)/cli/commands_text.o: %.o: %.c $(BUILD)/flags
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<
$(BUILD)/%.o: src/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<
# -O3 vectorises the conversions of data rows.
$(BUILD)/io/data/%.o: SPECIAL += $(if $(SAN),,-O3)
# Prebuilt loops: one copy for each kind of CPU, selected at run time.
LOOP_FLAGS := -O3 -fno-math-errno -fno-trapping-math -fopenmp-simd
$(BUILD)/run/engine/prebuilt/strip_plain.o $(BUILD)/run/engine/prebuilt/strip_avx2.o $(BUILD)/run/engine/prebuilt/strip_avx512.o: SPECIAL += $(LOOP_FLAGS)
ifneq ($(findstring x86_64,$(shell $(CC) -dumpmachine 2>/dev/null)),)
$(BUILD)/run/engine/prebuilt/strip_avx2.o: SPECIAL += -mavx2 -mfma
$(BUILD)/run/engine/prebuilt/strip_avx512.o: SPECIAL += -mavx2 -mfma -mavx512f -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512
endif
# Tests run once, so they are compiled with little optimisation.
$(BUILD)/tests/%.o: SPECIAL += $(if $(SAN),,-O1 -g0)
$(BUILD)/tests/%.o: tests/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -Itests -MMD -MP -c -o $@ $<
# An emulated GPU for tests: the functions of NVIDIA's libraries that limn calls, implemented on the CPU.
FAKE_CUDA := $(BUILD)/fake-cuda/libcuda.so.1 $(BUILD)/fake-cuda/libnvrtc.so.13 $(BUILD)/fake-cuda/libcublasLt.so.13
$(BUILD)/fake-cuda/libcuda.so.1: tests/gpu/fake_cuda.c Makefile
$(BUILD)/fake-cuda/libnvrtc.so.13: tests/gpu/fake_nvrtc.c Makefile
$(BUILD)/fake-cuda/libcublasLt.so.13: tests/gpu/fake_cublaslt.c Makefile
$(FAKE_CUDA):
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -U_FORTIFY_SOURCE -fPIC -shared -o $@ $< -ldl
$(BUILD)/tests/engine_test $(BUILD)/tests/steps_test $(BUILD)/tests/whole_test $(BUILD)/tests/special_test: $(FAKE_CUDA)
$(BUILD)/tests/engine_test.o $(BUILD)/tests/steps_test.o $(BUILD)/tests/whole_test.o $(BUILD)/tests/special_test.o: SPECIAL += -DFAKE_CUDA='"$(BUILD)/fake-cuda"'
# Debugging information takes a third of the link time; NO_DEBUG= keeps it.
NO_DEBUG = $(if $(SAN),,-Wl,-S)
$(BUILD)/tests/%_test: $(BUILD)/tests/%_test.o $(HELP_OBJ) $(BUILD)/libinner.a
	$(Q)$(LINK) $(NO_DEBUG) -o $@ $^ -lcmocka $(LDLIBS)
-include $(OBJECT:.o=.d) $(CLI:.o=.d) $(HELP_OBJ:.o=.d) $(TEST_BIN:=.d) $(BUILD)/prelude.c.d

# -- the playground: the library as WebAssembly, for web pages -------------------------------------------------------------------------------------
# Built with Debian's clang and wasi-libc. playground/wasi has the headers that WASI lacks and replacements for some files of src. There is no C compiler,
# GPU, thread or libpng, so steps run in prebuilt loops.
PLAY := build/playground
PLAY_OBJ := build/playground-objects
PLAY_CC ?= clang
PLAY_WITHOUT := src/io/bytes/png.c src/rpc/queue.c $(wildcard src/run/engine/cuda_*.c src/run/engine/c/*.c src/run/engine/cuda/*.c) $(wildcard src/port/c/*.c)
PLAY_FLAGS := --target=wasm32-wasi $(WARN) -Wno-gnu-statement-expression -Wno-unused-function -ffp-contract=off -Oz -DNDEBUG -Iplayground/wasi -include lacks.h -Isrc -Iinclude \
  -D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_GETPID -mllvm -wasm-enable-sjlj -mnontrapping-fptoint -fvisibility=hidden -ffunction-sections -fdata-sections
PLAY_EXPORTS := malloc free limn_version limn_new limn_free limn_allow limn_set limn_load limn_load_text limn_check limn_messages limn_forget \
  limn_server_open limn_server_take limn_server_work limn_server_ended limn_server_close limn_trainer_close
PLAY_OBJECT := $(patsubst src/%.c,$(PLAY_OBJ)/%.o,$(filter-out $(PLAY_WITHOUT),$(SOURCE))) $(patsubst %,$(PLAY_OBJ)/%.o,$(filter-out prelude product_text team_text tiles_text stripes_text units_text,$(EMBEDDED))) \
  $(patsubst playground/%.c,$(PLAY_OBJ)/own/%.o,$(sort $(wildcard playground/*.c playground/wasi/*.c)))
$(PLAY_OBJ)/%.o: src/%.c
	@mkdir -p $(@D)
	$(Q)$(PLAY_CC) $(PLAY_FLAGS) -MMD -MP -c -o $@ $<
$(PLAY_OBJ)/own/%.o: playground/%.c
	@mkdir -p $(@D)
	$(Q)$(PLAY_CC) $(PLAY_FLAGS) -MMD -MP -c -o $@ $<
$(EMBEDDED:%=$(PLAY_OBJ)/%.o): $(PLAY_OBJ)/%.o: build/%.c
	@mkdir -p $(@D)
	$(Q)$(PLAY_CC) $(PLAY_FLAGS) -c -o $@ $<
$(PLAY_OBJ)/run/engine/prebuilt/strip_plain.o: PLAY_FLAGS += -O2 -fno-math-errno -fno-trapping-math
$(PLAY_OBJ)/limn.wasm: $(PLAY_OBJECT)
	@mkdir -p $(@D)
	$(Q)$(PLAY_CC) --target=wasm32-wasi -mexec-model=reactor -Wl,--gc-sections,--stack-first,-s,-z,stack-size=4194304 $(PLAY_EXPORTS:%=-Wl,--export=%) -o $@.whole $^ -lwasi-emulated-signal -lwasi-emulated-getpid
	$(Q)if command -v wasm-opt >/dev/null; then wasm-opt -Oz --enable-exception-handling --enable-nontrapping-float-to-int --enable-sign-ext --enable-bulk-memory --strip-producers -o $@ $@.whole && rm $@.whole; else mv $@.whole $@; fi
	@echo "$@: $$(wc -c <$@) bytes"
playground: all
	@$(PACKAGES) playground
	+@$(PARALLEL) $(PLAY_OBJ)/limn.wasm
	@tools/npm.sh studio
	@[ -d studio/node_modules ] || { echo "no page: what it is made of was not installed by npm" >&2; exit 1; }
	@node studio/playground.mjs $(abspath $(PLAY)) $(abspath $(PLAY_OBJ)/limn.wasm) "$$LIMN_DATA" && echo "$(PLAY): a page of $$(cat $(PLAY)/* | wc -c) bytes, to be served as it is"
playground-without:
	@echo $(PLAY_WITHOUT)
test-playground: playground
	@LIMN=$(CURDIR)/$(BUILD)/limn BUILD=$(BUILD) sh tests/playground/test.sh
-include $(PLAY_OBJECT:.o=.d)

# -- installing ----------------------------------------------------------------------------------------------------------------------
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
DOCDIR ?= $(DATADIR)/doc/limn
# Man pages, completions and editor files are generated from the texts of --help, the manual, and the keywords and functions of the language.
share: $(BUILD)/share/made
$(BUILD)/share/made: $(sort $(wildcard packaging/* editors/* editors/*/* lib/*.limn)) src/cli/commands.txt docs/language.md src/core/diagram/ops.def include/limn.h $(filter src/lang/%,$(SOURCE))
	$(Q)packaging/share.sh $(BUILD)/share $(VERSION)
# The extension for Visual Studio Code, as one file.
vsix:
	+@$(PARALLEL) $(BUILD)/share/made
	@/usr/bin/python3 editors/vscode/vsix.py $(BUILD)/share/vscode $(BUILD)/limn-$(VERSION).vsix
PLACES = BUILD="$(BUILD)" VERSION="$(VERSION)" SHARED="$(SHARED)" SHARED_MAJOR="$(SHARED_MAJOR)" SHARED_LINK="$(SHARED_LINK)" PRIVATE_LIBS="$(filter-out $(IMAGE_LIBS),$(LDLIBS))" \
  PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" BINDIR="$(BINDIR)" LIBDIR="$(LIBDIR)" INCLUDEDIR="$(INCLUDEDIR)" DATADIR="$(DATADIR)" MANDIR="$(MANDIR)" DOCDIR="$(DOCDIR)"
install: all
	+@$(PARALLEL) $(BUILD)/share/made
	@$(PLACES) packaging/install.sh install
uninstall:
	+@$(PARALLEL) $(BUILD)/share/made
	@$(PLACES) packaging/install.sh uninstall
# Debian's.
deb: all
	+@MAKE="$(MAKE)" packaging/deb.sh $(BUILD) $(VERSION) "$(CC)"
python: all
	@$(or $(PYTHON),python3) python/wheel.py $(BUILD)/$(SHARED) $(VERSION) $(BUILD)/python

# -- testing -------------------------------------------------------------------------------------------------------------------------
demo: deps-build
	+@$(PARALLEL) $(BUILD)/limn
	@tools/demo.sh $(BUILD)/limn
# Only deps, demo and test install packages, and they print which: Debian's, and npm's for tests.
# The built page is in the repository, so that building limn does not need npm.
studio-page:
	@if command -v npm >/dev/null; then cd studio && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error && node build.mjs && ls -l dist; \
	else echo "npm is not here (on Debian: apt install npm); studio/dist stays as it is"; fi
deps:
	@$(PACKAGES) build test format clang
deps-build:
	@$(PACKAGES) build
packages:
	@$(PACKAGES) test
PACKAGES = CC="$(CC)" CPPFLAGS="$(IMAGE_CFLAGS) $(CPPFLAGS) $(CFLAGS)" tools/packages.sh

# ONLY: C tests by name, with or without _test; the folders canvas and looks use one of them.
comma := ,
ASKED := $(subst $(comma), ,$(ONLY))
ASKED_BIN := $(foreach t,$(ASKED) $(if $(filter canvas looks,$(ASKED)),canvas_test),$(filter %/$(t) %/$(t)_test,$(TEST_BIN)))
TESTED = $(PRODUCTS) $(BUILD)/libinner.a $(FAKE_CUDA) $(if $(ONLY),$(if $(filter c_out,$(ASKED)),$(BUILD)/c-steps),$(BUILD)/c-steps) $(if $(ONLY),$(sort $(ASKED_BIN)),$(TEST_BIN))
# Tests spend a sixth of their time waiting, so one more than the number of cores runs in parallel.
TESTS_AT_ONCE = $(if $(filter command%,$(origin JOBS)),$(JOBS),$(shell expr $(JOBS) + 1))
RUN_TESTS = CC="$(CC)" MAKE="$(MAKE)" JOBS="$(TESTS_AT_ONCE)" ONLY="$(ONLY)" tests/run.sh $(BUILD)
test: announced packages
	@tools/npm.sh
	+@$(PARALLEL) $(TESTED)
	+@$(MAKE) -s --no-print-directory tested
announced:
	@echo "building the tests$(if $(ONLY), of $(ONLY)); each prints its time when it ends"
# A separate make, so that packages installed by its caller are found.
tested:
	@$(RUN_TESTS)
# A separate build in build/coverage without optimisation, so that lines match the source. Counts accumulate over runs.
COVERAGE := -O0 --coverage -fprofile-update=atomic -DLIMN_COVERAGE
coverage: packages
	+@-$(MAKE) -s --no-print-directory BUILD=build/coverage CFLAGS="$(COVERAGE)" test
	@tools/coverage.sh build/coverage
# A program with 8 threads, each with its own handle of the library; the first report of ThreadSanitizer ends it.
TSAN := -O1 -fsanitize=thread
tsan:
	+@$(PARALLEL) BUILD=build/tsan CFLAGS="$(TSAN)" build/tsan/liblimn.a
	$(Q)$(CC) -std=c11 -D_DEFAULT_SOURCE -g $(TSAN) -Iinclude -o build/tsan/threads tests/embed/threads.c build/tsan/liblimn.a $(LDLIBS)
	@mkdir -p build/tsan/in && cd build/tsan/in && TSAN_OPTIONS=halt_on_error=1 LIMN_CACHE=$(CURDIR)/build/tsan/in ../threads && echo "8 threads: nothing was found"
# Imports, evaluates, draws and trains models exported by PyTorch, and prints a table.
test-models: all
	@LIMN=$(CURDIR)/$(BUILD)/limn tests/onnx/models.sh $(MODELS)
# Needs a GPU: the engine on two thousand random programs, queued steps, PyTorch's losses, results equal to the CPU's to the
# last bit, repeated runs with equal bytes, and ten steps of every example.
GPU_TESTS = $(addprefix $(BUILD)/tests/,engine_test steps_test torch_steps_test)
test-gpu: all $(GPU_TESTS)
	@LIMN_GPU=1 LIMN_LONG=1 $(BUILD)/tests/engine_test
	@LIMN_GPU=1 $(BUILD)/tests/steps_test
	@LIMN_GPU=1 $(BUILD)/tests/torch_steps_test
	@LIMN=$(CURDIR)/$(BUILD)/limn sh tests/gpu/again.sh
	@LIMN=$(CURDIR)/$(BUILD)/limn BUILD=$(BUILD) LIMN_GPU=1 sh tests/gpu/exact.sh 0 40
	@LIMN=$(CURDIR)/$(BUILD)/limn sh tests/gpu/examples.sh $(ARGS)
test-long: all
	@LONG=1 LIMN=$(CURDIR)/$(BUILD)/limn BUILD=$(BUILD) tests/mnist/test.sh
# Every learner and training step of the examples exported as C, also for other targets.
test-c: packages
	@$(PACKAGES) c
	+@$(PARALLEL) $(PRODUCTS) $(BUILD)/c-steps $(BUILD)/tests/whole_test
	@LIMN=$(CURDIR)/$(BUILD)/limn BUILD=$(BUILD) sh tests/c_out/test.sh all
test-studio: all
	@LONG=1 LIMN=$(CURDIR)/$(BUILD)/limn node tests/studio_page/browser.mjs $(ARGS)
test-python-out: all
	@LONG=1 LIMN=$(CURDIR)/$(BUILD)/limn BUILD=$(BUILD) sh tests/python_out/test.sh
test-json: all
	@LONG=1 LIMN=$(CURDIR)/$(BUILD)/limn sh tests/json/test.sh
test-onnx: all
	@LONG=1 LIMN=$(CURDIR)/$(BUILD)/limn BUILD=$(BUILD) sh tests/onnx_out/test.sh
test-python: all
	@$(PACKAGES) python
	@LONG=1 BUILD=$(BUILD) sh tests/python/test.sh
examples: packages
	+@$(PARALLEL) $(PRODUCTS)
	@LIMN=$(CURDIR)/$(BUILD)/limn BUILD=$(BUILD) sh tests/examples/full.sh
bless: announced packages
	+@$(PARALLEL) $(TESTED)
	@$(RUN_TESTS) --bless
draw-random: packages
	+@$(PARALLEL) $(BUILD)/tests/pictures_test
	@$(BUILD)/tests/pictures_test random $(or $(FIRST),1) $(or $(RUNS),1000)
# tests/laws.sh lists the laws.
LAWS_OF = $(if $(filter exports hostile_names doors steps,$(LAW)),$(BUILD)/limn $(BUILD)/c-steps) $(if $(filter exports hostile_names,$(LAW)),,$(BUILD)/tests/$(if $(filter hybrid%,$(LAW)),laws_hybrid,$(if $(filter gestures,$(LAW)),gesture,$(if $(filter options,$(LAW)),options,whole)))_test)
laws: packages
	+@$(PARALLEL) $(LAWS_OF)
	@JOBS=$(JOBS) tests/laws.sh $(BUILD) $(or $(LAW),all) $(or $(FIRST),1) $(or $(RUNS),1000)
# Checks the dependences between rooms.
rooms:
	@tools/rooms.sh $(BUILD)
# Prints the size of the source and its repetition as a table.
shape:
	@tools/shape.sh
# Checks the length and the number of parameters of functions.
shapes:
	@tools/shapes.sh
FORMATTED = $(shell find src -name "*.[ch]") $(wildcard playground/*.c playground/wasi/*.[ch]) $(wildcard include/*.h tests/*.[ch] tests/*/*.[ch])
format:
	@$(PACKAGES) format
	clang-format -i $(FORMATTED)
format-check:
	@$(PACKAGES) format
	@clang-format --dry-run -Werror $(FORMATTED)
check: format-check rooms
	@$(MAKE) --no-print-directory SAN=1 test
onnx: all
	@LIMN=$(BUILD)/limn JOBS=$(JOBS) /usr/bin/python3 tests/onnx/nodes.py $(or $(NODES),/usr/share/libonnx-testdata/data/node)
onnx-damage: all
	@LIMN=$(BUILD)/limn JOBS=$(JOBS) /usr/bin/python3 tests/onnx/damage.py $(or $(NODES),/usr/share/libonnx-testdata/data/node)
# Fuzzing: every harness of tests/fuzz on all cores, SECONDS in total (FUZZ='json csv': some of them). The corpus is in build/fuzz/corpus,
# crashes are in build/fuzz/found. `fuzz` uses clang's libFuzzer with sanitizers; `fuzz-plain` any compiler, with sanitizers if SAN=1.
# Comparisons are traced only for readers of files: the harness of the language has its own mutations.
SECONDS ?= 300
HARNESS := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ ?= $(HARNESS)
FUZZ_HEADERS := $(wildcard tests/fuzz/*.h)
FUZZ_WITH := -std=c11 -g $(IMAGE_CFLAGS) -ffp-contract=off -Isrc -Iinclude -Itests -Itests/fuzz -DLIMN_GUARD
FUZZ_FLAGS := $(FUZZ_WITH) -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_OBJECT := $(SOURCE:src/%.c=build/fuzz/%.o) $(EMBEDDED:%=build/fuzz/%.o)
build/fuzz/%.o: src/%.c
	@mkdir -p $(@D)
	$(Q)clang $(FUZZ_FLAGS) $(if $(filter build/fuzz/io/bytes/%,$@),-fsanitize=fuzzer-no-link,-fsanitize-coverage=inline-8bit-counters,pc-table) -MMD -MP -c -o $@ $<
$(EMBEDDED:%=build/fuzz/%.o): build/fuzz/%.o: build/%.c
	@mkdir -p $(@D)
	$(Q)clang $(FUZZ_FLAGS) -c -o $@ $<
build/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(FUZZ_HEADERS) $(DIAGRAM_HELP) $(FUZZ_OBJECT)
	$(Q)clang $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $< $(DIAGRAM_HELP) $(FUZZ_OBJECT) $(LDLIBS)
fuzz:
	@$(PACKAGES) fuzz
	+@$(PARALLEL) $(EMBEDDED:%=build/%.c) $(FUZZ:%=build/fuzz/fuzz_%)
	@JOBS=$(JOBS) tests/fuzz/run.sh build/fuzz $(SECONDS) $(FUZZ)
# Without libFuzzer, tests/fuzz/replay.c generates inputs and gets their coverage; base is not instrumented, since all other code
# calls it.
PLAIN := $(BUILD)/fuzz-plain
PLAIN_FLAGS := $(FUZZ_WITH) $(if $(SAN),$(SANITIZE),-O2)
PLAIN_WRAP := $(if $(SAN)$(filter Darwin,$(SYSTEM)),,-DWRAPPED -Wl,--wrap=malloc,--wrap=calloc)
PLAIN_OBJECT := $(SOURCE:src/%.c=$(PLAIN)/%.o) $(EMBEDDED:%=$(PLAIN)/%.o)
$(PLAIN)/%.o: src/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN_FLAGS) $(if $(filter $(PLAIN)/base/%,$@),,-fsanitize-coverage=trace-pc) -MMD -MP -c -o $@ $<
$(EMBEDDED:%=$(PLAIN)/%.o): $(PLAIN)/%.o: $(BUILD)/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN_FLAGS) -c -o $@ $<
$(PLAIN)/libinner.a: $(PLAIN_OBJECT)
	$(Q)rm -f $@ && $(ARCHIVE) $@ $^
$(PLAIN)/fuzz_%: tests/fuzz/fuzz_%.c tests/fuzz/replay.c tests/fuzz/mutate.c $(FUZZ_HEADERS) $(DIAGRAM_HELP) $(PLAIN)/libinner.a
	$(Q)$(CC) $(PLAIN_FLAGS) $(PLAIN_WRAP) -o $@ $< tests/fuzz/replay.c tests/fuzz/mutate.c $(DIAGRAM_HELP) $(PLAIN)/libinner.a $(LDLIBS)
-include $(FUZZ_OBJECT:.o=.d) $(PLAIN_OBJECT:.o=.d)
fuzz-plain:
	+@$(PARALLEL) $(EMBEDDED:%=$(BUILD)/%.c) $(FUZZ:%=$(PLAIN)/fuzz_%)
	@JOBS=$(JOBS) tests/fuzz/run.sh $(PLAIN) $(SECONDS) $(FUZZ)
# Injects all faults, or as many as the time allows; see tests/torture/torture.py.
torture: packages
	+@$(PARALLEL) $(PRODUCTS) $(BUILD)/libinner.a $(BUILD)/tests/whole_test
	@CC="$(CC)" $(or $(PYTHON),python3) tests/torture/torture.py --limn $(BUILD)/limn --build $(BUILD) --jobs $(JOBS) --seconds $(or $(SECONDS),0) \
	  --runs $(or $(RUNS),0) --first $(or $(FIRST),0) --seed $(or $(SEED),1) --only "$(ONLY)"
bench:
	+@$(PARALLEL) $(BUILD)/limn $(BUILD)/bench-step
	@bench/run.sh --build $(BUILD) $(BENCH)
bench-c:
	+@$(PARALLEL) $(BUILD)/limn $(BUILD)/c-steps
	@bench/c.sh $(BUILD) $(ARGS)
bench-lsp: all
	@/usr/bin/python3 bench/lsp.py $(BUILD)/limn
bench-studio: all
	@LIMN=$(CURDIR)/$(BUILD)/limn node tests/studio_page/bench.mjs
film: all
	@$(PACKAGES) film
	@LIMN=$(CURDIR)/$(BUILD)/limn node tests/studio_page/film.mjs docs/studio $(SCENES)
bench-draw: all
	@bench/draw.sh $(BUILD)/limn
bench-machines: all
	@bench/machines.sh $(BUILD)/limn
	@bench/online.sh $(BUILD)/limn
bench-stiff: all
	@bench/stiff.sh $(BUILD)/limn
bench-neurons: all
	@bench/neurons.sh $(BUILD)/limn
bench-check: all
	@bench/check.sh $(BUILD)/limn
$(BUILD)/bench-step: bench/step.c $(BUILD)/libinner.a
	$(Q)$(LINK) -o $@ $^ $(LDLIBS)
$(BUILD)/c-steps: bench/c_steps.c $(BUILD)/libinner.a
	$(Q)$(LINK) -o $@ $^ $(LDLIBS)
$(BUILD)/bench-gemm: bench/gemm.c $(BUILD)/libinner.a
	$(Q)$(LINK) -o $@ $^ $(LDLIBS)
bench-gemm: $(BUILD)/bench-gemm
	@$(BUILD)/bench-gemm $(ARGS)
$(BUILD)/bench-strip: bench/strip.c $(DIAGRAM_HELP) $(BUILD)/libinner.a
	$(Q)$(LINK) -Itests -o $@ $^ $(LDLIBS)
bench-strip: $(BUILD)/bench-strip
	@$(BUILD)/bench-strip $(ARGS)
$(BUILD)/bench-ode: bench/ode.c $(BUILD)/libinner.a
	$(Q)$(LINK) -o $@ $^ $(LDLIBS)
bench-gates: all
	@LIMN=$(CURDIR)/$(BUILD)/limn bench/gates.sh
bench-ode: $(BUILD)/bench-ode
	@$(BUILD)/bench-ode $(ARGS)
# The flags for generated code. On aarch64, clang derives `native` from the CPU's name, and a virtual machine may hide SVE.
STEP_FLAGS := -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -fopenmp-simd -fno-semantic-interposition \
  $(if $(filter x86_64,$(shell uname -m)),-march=native -mprefer-vector-width=512) \
  $(if $(filter aarch64,$(shell uname -m)),-march=armv8-a$(if $(shell grep -sw sve /proc/cpuinfo),+sve) -mtune=native)
bench-prelude:
	@mkdir -p build
	@for cc in gcc clang; do command -v $$cc >/dev/null || continue; echo "$$cc"; \
	  $$cc $(STEP_FLAGS) -Isrc -o build/bench-prelude bench/prelude.c -lm && build/bench-prelude || exit 1; done
FONTS ?= /usr/share/texmf/fonts/opentype/public
glyphs:
	@$(PACKAGES) glyphs
	@mkdir -p build
	$(Q)$(CC) $(WARN) -O1 $$(pkg-config --cflags freetype2) -o build/glyphs tools/glyphs.c -lfreetype -lm
	$(Q)build/glyphs $(FONTS) > build/glyphs.inc
	$(Q)mv build/glyphs.inc src/show/canvas/glyphs.inc
docs: all
	$(BUILD)/limn ops > docs/ops.md
	tools/files.sh > docs/files.md
	$(BUILD)/limn draw docs/pictures/pipeline.limn pipeline -o docs/pictures/pipeline.svg
	$(BUILD)/limn draw examples/lens.limn -o docs/pictures/lens.svg
	$(BUILD)/limn draw examples/attention.limn multihead -o docs/pictures/multihead.svg
	$(BUILD)/limn draw examples/transformer.limn model -o docs/pictures/transformer.svg
	$(BUILD)/limn draw examples/distill.limn distill -o docs/pictures/distill.svg
	$(BUILD)/limn draw examples/dils.limn -o docs/pictures/team.svg
	mkdir -p $(BUILD)/diff && cp examples/transformer.limn examples/attention.limn $(BUILD)/diff
	sed 's/\^ 6/^ 4/; s/4\*m/2*m/' examples/transformer.limn >$(BUILD)/diff/smaller.limn
	-cd $(BUILD)/diff && ../limn diff transformer.limn smaller.limn --quiet -o $(CURDIR)/docs/pictures/diff.svg
	-$(BUILD)/limn draw docs/figures/mistake.limn attend -o docs/pictures/mistake.svg 2>/dev/null
gallery: all
	@tools/gallery.sh $(BUILD)/limn

clean:
	rm -rf build
