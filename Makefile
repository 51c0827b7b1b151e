# make          builds build/limn, build/liblimn.a and the shared library; installs nothing    V=1 shows the commands
# make install  all of it, with man pages, completions, editor files, docs and examples: PREFIX=/usr/local DESTDIR=
# make uninstall  takes away what `make install` put there
# make help     this list
# make deb      build/limn_VERSION_ARCH.deb and build/python3-limn_VERSION_all.deb
# make python   the Python module with the library inside, as a wheel: build/python/limn-VERSION-….whl
# make playground  the studio's page with the library as wasm, for any server of files: build/playground; needs clang
# make vsix     the extension for Visual Studio Code: build/limn-VERSION.vsix
# make studio-page  the studio's page anew, from studio/src into studio/dist: needs npm
# make deps     installs the Debian packages that building and testing need
# make demo     builds, learns to edit faces, and writes a page to look at: demo/report.html
# make test     everything (FULL=1: more and larger programs, twice as long; SAN=1: under the sanitizers; ONLY=draw,cli,block_test: only these; JOBS=2: so many at once)
# make test-models  models as PyTorch exports them, imported and trained: MODELS='vae lstm', or all
# make test-long  what takes minutes: MNIST to the end (SEEDS='0 1 2')
# make test-studio  the studio's page in a browser, all of it (SHOTS=FOLDER: pictures to look at)
# make test-c   every learner and every training step of every example exported as C; on a Cortex-M and in wasm too
# make test-python-out  every learner and program of the examples as Python: values, gradients and ten steps, in PyTorch
# make test-onnx  every learner and box of the examples as an ONNX model, run by ONNX Runtime (npm's onnxruntime-node)
# make test-json  every learner and box of the examples and of the library as JSON, read back: the same diagram, the same values
# make test-playground  the library as wasm, under node: its language server, and training with the losses that it has here
# make test-python  the Python module with torch, its packages, a notebook; figures against PyTorch
# make examples  every example to the end, against the figures of its header (ONLY='vae gan')
# make coverage  which lines and branches the tests reach, by room, and the ten files of which they reach least (ONLY=cli,whole: by these alone)
# make tsan     the library in 8 threads under ThreadSanitizer
# make bless    the same, and golden files are written anew: read them in the diff
# make check    format, rooms, sanitized tests
# make fuzz     the fuzzers, on all cores, SECONDS=300 in all (FUZZ='json csv': these alone); needs clang
# make fuzz-plain  the same by any compiler (SAN=1: under the sanitizers)
# make torture  every fault everywhere, with a table at its end: SECONDS=600 in all, or RUNS=1000 FIRST=0 ONLY=calls SEED=1
# make laws     laws of RUNS random whole programs, from seed FIRST on (LAW=batch; LAW=doors: every export too; LAW=hybrid: of hybrid systems; tests/laws.sh says all)
# make draw-random  pictures of RUNS random programs, from seed FIRST on: their faults
# make onnx     ONNX's node tests through `limn import`, with a table by operator: NODES=FOLDER
# make onnx-damage  the same tests, each damaged in every way that makes it no ONNX model: all must be refused (minutes)
# make bench    steps of training against PyTorch's, in turn (BENCH='--threads 1 --only mlp')
# make bench-c  the same steps as exported C, against ours (ARGS='mlp conv')
# make bench-check  how the time of checking grows with a program
# make bench-lsp    how long each request of an editor takes, in files of 30 to 10000 lines
# make film     the pictures of docs/studio.md, taken in a browser while the page is used (SCENES='gan nash'; needs chromium and imagemagick)
# make bench-studio how fast the studio's page is: keys to pictures, frames while dragging (MINUTES=60: a robot writes)
# make bench-draw   how long pictures take, and how that grows
# make bench-gemm     matrix products: GFLOP/s, and the share of what the CPU can do (ARGS: see bench/gemm.c)
# make bench-strip    prebuilt kernels against compiled code
# make bench-machines runs of machines against C, and by size
# make bench-stiff    the stiff method against CVODE
# make bench-neurons  events a second, against C
# make bench-ode      what the solver of rates itself costs
# make bench-gates    machines by ticks: gates a second, rings of cells, wirings of many parts
# make bench-prelude  the functions of compiled code: time and error, for each compiler
# make glyphs   the outlines of letters anew, from the TeX Gyre fonts
# make docs     the pages that limn writes itself
# make gallery  the pictures of docs/figures, and the page that shows them
#
# CC AR CFLAGS CPPFLAGS LDFLAGS are respected, from the environment too; CFLAGS come after ours. Other flags, other build: what was
# built with others is built anew. GNU make; the recipes keep to POSIX tools, and what only one system has is marked with its name.
CC ?= cc
OBJCOPY ?= objcopy
PKG_CONFIG ?= pkg-config
# Nothing here is made by rules that make brings along; looking for them took longer than all the rest.
MAKEFLAGS += -r
Q := $(if $(V),,@)
JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
SYSTEM := $(shell uname -s)
BUILD := build$(if $(SAN),/san)
VERSION := $(shell sed -n 's/^\#define LIMN_VERSION "\(.*\)"/\1/p' include/limn.h)
MAJOR := $(firstword $(subst ., ,$(VERSION)))

WARN := -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wconversion
SANITIZE := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -DLIMN_GUARD
# Where libpng and zlib are; without pkg-config, where the compiler looks anyway.
IMAGE_CFLAGS := $(shell $(PKG_CONFIG) --cflags libpng zlib 2>/dev/null)
IMAGE_LIBS := $(or $(shell $(PKG_CONFIG) --libs libpng zlib 2>/dev/null),-lpng -lz)
export LDLIBS := $(IMAGE_LIBS) -lpthread $(if $(filter Linux,$(SYSTEM)),-ldl) -lm
# Products and sums are rounded one by one, as ISO C has it: clang would fuse them where the CPU can, and give other numbers.
# Only what limn.h declares is visible. Paths in debugging information begin at the root of the sources, wherever that is.
OWN := $(WARN) -ffp-contract=off -Isrc -Iinclude -g $(if $(SAN),$(SANITIZE),-O2) -fPIC -fvisibility=hidden -ffile-prefix-map=$(CURDIR)=. $(IMAGE_CFLAGS)
# What makes an attack harder, where compiler and linker have it; not under the sanitizers, which look themselves. FORTIFY wants an
# optimiser, and who sets it has set it.
HARDEN := $(if $(SAN),,$(shell tools/harden.sh $(BUILD)/harden $(CC)))
harden = $(patsubst $1:%,%,$(filter $1:%,$(HARDEN)))
HARD = $(filter-out $(if $(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS))$(filter -O0,$(CPPFLAGS) $(CFLAGS)),%_FORTIFY_SOURCE %_FORTIFY_SOURCE=2 %_FORTIFY_SOURCE=3),$(call harden,compile))
# Link-time optimisation would hide from `ld -r` what is to be made local.
GIVEN = $(CPPFLAGS) $(CFLAGS) $(if $(findstring -flto,$(CFLAGS)),-fno-lto)
COMPILE = $(CC) $(OWN) $(HARD) $(GIVEN) $(SPECIAL)
LINK = $(CC) $(OWN) $(HARD) $(GIVEN) $(call harden,link) $(LDFLAGS)

SOURCE := $(sort $(shell find src -name "*.c" -not -path "src/cli/*" -not -path "src/studio/*"))
# Texts that are part of the library.
EMBEDDED := library prelude product_text team_text tiles_text stripes_text units_text torch_training jax_training build_id
OBJECT := $(SOURCE:src/%.c=$(BUILD)/%.o) $(EMBEDDED:%=$(BUILD)/%.o)
# The studio wants libmicrohttpd; without it limn says so when it is asked for.
HTTP_LIBS := $(shell $(PKG_CONFIG) --libs libmicrohttpd 2>/dev/null)
export HTTP_LIBS
HTTP_CFLAGS := $(if $(HTTP_LIBS),-DLIMN_HTTP $(shell $(PKG_CONFIG) --cflags libmicrohttpd 2>/dev/null))
STUDIO := $(if $(HTTP_LIBS),$(patsubst src/%.c,$(BUILD)/%.o,$(sort $(wildcard src/studio/*.c))) $(BUILD)/studio/page_files.o $(BUILD)/studio/example_files.o)
GROUND := $(patsubst src/%.c,$(BUILD)/%.o,$(sort $(wildcard src/base/*.c src/io/bytes/*.c src/rpc/*.c)))
CLI := $(patsubst src/%.c,$(BUILD)/%.o,$(sort $(wildcard src/cli/*.c))) $(BUILD)/cli/commands_text.o $(STUDIO)
TESTS := $(sort $(wildcard tests/*_test.c))
TEST_BIN := $(TESTS:tests/%.c=$(BUILD)/tests/%)
HELP := $(filter-out $(TESTS),$(sort $(wildcard tests/*.c)))
HELP_OBJ := $(HELP:tests/%.c=$(BUILD)/tests/%.o)
# Diagrams from text, valid and equal: for tests, fuzzers and benches.
DIAGRAM_HELP := $(patsubst %,tests/diagram_%.c,equal lex read scalar valid)
# macOS names and marks shared libraries its own way.
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
# A second make, so that all cores are used without being asked for.
PARALLEL = $(MAKE) -s --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))
all:
	+@$(PARALLEL) $(PRODUCTS)
# The comment above, up to the first line that is not one.
help:
	@sed -n '/^[^\#]/q; s/^# \{0,1\}//p' Makefile
.SECONDARY:

# Other flags, or another compiler: everything is built anew, and first it is looked whether all that is needed is there.
FLAGS = $(filter-out ccache,$(CC)) $(AR) $(OWN) $(HARD) $(GIVEN) $(call harden,link) $(LDFLAGS) $(LDLIBS) $(LOOP_FLAGS)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS))' >$@.new
	@if cmp -s $@.new $@; then rm -f $@.new; else CC="$(CC)" CPPFLAGS="$(IMAGE_CFLAGS) $(CPPFLAGS) $(CFLAGS)" tools/packages.sh --look build && mv $@.new $@; fi

# The command line is built on what everybody else gets; the studio has texts, files and JSON of its own beside it.
$(BUILD)/limn: $(CLI) $(BUILD)/liblimn.a $(if $(STUDIO),$(BUILD)/libground.a)
	$(Q)$(LINK) $(call harden,program) -o $@ $^ $(HTTP_LIBS) $(LDLIBS)
	@echo "$@"
$(BUILD)/libground.a: $(GROUND)
	$(Q)rm -f $@ && $(ARCHIVE) $@ $^
# The studio's page, as it is built in studio/dist, and the manual that it shows.
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
# Whether it is there may change.
$(BUILD)/http: FORCE
	@mkdir -p $(@D)
	@echo '$(HTTP_CFLAGS) $(HTTP_LIBS)' >$@.new; if cmp -s $@.new $@; then rm -f $@.new; else mv $@.new $@; fi
$(STUDIO) $(BUILD)/cli/studio.o: SPECIAL += $(HTTP_CFLAGS)
$(STUDIO) $(BUILD)/cli/studio.o: $(BUILD)/http
# The library as one object, in which everything but limn_* is local. (On macOS `ld -r` does that by itself.)
$(BUILD)/liblimn.a: $(BUILD)/liblimn.o
	$(Q)rm -f $@ && $(ARCHIVE) $@ $^
$(BUILD)/liblimn.o: $(OBJECT)
	$(Q)$(CC) $(filter -m%,$(CFLAGS)) -nostdlib -r -o $@ $^
ifneq ($(SYSTEM),Darwin)
	$(Q)$(OBJCOPY) --localize-hidden $@ || echo "$(OBJCOPY) cannot hide names: those inside liblimn.a may clash with a host's"
endif
# With all its inner functions, for the tests.
$(BUILD)/libinner.a: $(OBJECT)
	$(Q)rm -f $@ && $(ARCHIVE) $@ $^
$(BUILD)/$(SHARED): $(OBJECT)
	$(Q)$(LINK) $(SHARED_FLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/$(SHARED_LINK): $(BUILD)/$(SHARED)
	$(Q)ln -sf $(SHARED) $(BUILD)/$(SHARED_MAJOR) && ln -sf $(SHARED_MAJOR) $@
# No dates in archives. (macOS: by a variable.)
ARCHIVE := $(AR) $(if $(filter Darwin,$(SYSTEM)),rcs,rcsD)
export ZERO_AR_DATE := 1

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
$(BUILD)/torch_training.c $(BUILD)/jax_training.c: $(BUILD)/%.c: src/port/python/%.py src/port/python/shared_training.py tools/embed.sh Makefile
	@mkdir -p $(@D)
	$(Q)tools/embed.sh port/python/python_own.h $* $(filter %.py,$^) >$@
# Which build it is: a sum of the sources, the compiler and the options that are asked for, and not of where they lie.
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
# Rows are converted with wide instructions.
$(BUILD)/io/data/%.o: SPECIAL += $(if $(SAN),,-O3)
# Prebuilt loops: a copy for each kind of CPU, chosen when limn runs.
LOOP_FLAGS := -O3 -fno-math-errno -fno-trapping-math -fopenmp-simd
$(BUILD)/run/engine/prebuilt/strip_plain.o $(BUILD)/run/engine/prebuilt/strip_avx2.o $(BUILD)/run/engine/prebuilt/strip_avx512.o: SPECIAL += $(LOOP_FLAGS)
ifneq ($(findstring x86_64,$(shell $(CC) -dumpmachine 2>/dev/null)),)
$(BUILD)/run/engine/prebuilt/strip_avx2.o: SPECIAL += -mavx2 -mfma
$(BUILD)/run/engine/prebuilt/strip_avx512.o: SPECIAL += -mavx2 -mfma -mavx512f -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512
endif
# They run once: a compiler is to take little trouble over them.
$(BUILD)/tests/%.o: SPECIAL += $(if $(SAN),,-O1 -g0)
$(BUILD)/tests/%.o: tests/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -Itests -MMD -MP -c -o $@ $<
# A GPU that is not there, for tests: NVIDIA's libraries as far as limn calls them, on this CPU.
FAKE_CUDA := $(BUILD)/fake-cuda/libcuda.so.1 $(BUILD)/fake-cuda/libnvrtc.so.13 $(BUILD)/fake-cuda/libcublasLt.so.13
$(BUILD)/fake-cuda/libcuda.so.1: tests/gpu/fake_cuda.c Makefile
$(BUILD)/fake-cuda/libnvrtc.so.13: tests/gpu/fake_nvrtc.c Makefile
$(BUILD)/fake-cuda/libcublasLt.so.13: tests/gpu/fake_cublaslt.c Makefile
$(FAKE_CUDA):
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -U_FORTIFY_SOURCE -fPIC -shared -o $@ $< -ldl
$(BUILD)/tests/engine_test $(BUILD)/tests/steps_test $(BUILD)/tests/whole_test $(BUILD)/tests/special_test: $(FAKE_CUDA)
$(BUILD)/tests/engine_test.o $(BUILD)/tests/steps_test.o $(BUILD)/tests/whole_test.o $(BUILD)/tests/special_test.o: SPECIAL += -DFAKE_CUDA='"$(BUILD)/fake-cuda"'
# What debuggers want is a third of the time that linking takes; NO_DEBUG= leaves it in.
NO_DEBUG = $(if $(SAN),,-Wl,-S)
$(BUILD)/tests/%_test: $(BUILD)/tests/%_test.o $(HELP_OBJ) $(BUILD)/libinner.a
	$(Q)$(LINK) $(NO_DEBUG) -o $@ $^ -lcmocka $(LDLIBS)
-include $(OBJECT:.o=.d) $(CLI:.o=.d) $(HELP_OBJ:.o=.d) $(TEST_BIN:=.d) $(BUILD)/prelude.c.d

# -- the playground: the library as wasm, for pages -------------------------------------------------------------------------------------
# Debian's clang with wasi-libc. What WASI lacks is in playground/wasi: headers, and files that stand in for some of src. No compiler, no
# GPU, no threads, no libpng: steps run by prebuilt loops.
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
# Man pages, completions and files for editors, from the texts of --help, the manual, and the words of the language.
share: $(BUILD)/share/made
$(BUILD)/share/made: $(sort $(wildcard packaging/* editors/* editors/*/* lib/*.limn)) src/cli/commands.txt docs/language.md src/core/diagram/ops.def include/limn.h $(filter src/lang/%,$(SOURCE))
	$(Q)packaging/share.sh $(BUILD)/share $(VERSION)
# The extension for Visual Studio Code as one file.
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
# These, demo and test alone install packages, and say which: Debian's, and for tests npm's.
# The page is in the repository as it is built, so that nobody needs npm to build limn.
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
# Tests wait for a sixth of their time: one more than there are cores.
TESTS_AT_ONCE = $(if $(filter command%,$(origin JOBS)),$(JOBS),$(shell expr $(JOBS) + 1))
RUN_TESTS = CC="$(CC)" MAKE="$(MAKE)" JOBS="$(TESTS_AT_ONCE)" ONLY="$(ONLY)" tests/run.sh $(BUILD)
test: announced packages
	@tools/npm.sh
	+@$(PARALLEL) $(TESTED)
	+@$(MAKE) -s --no-print-directory tested
announced:
	@echo "building the tests$(if $(ONLY), of $(ONLY)); each prints its time when it ends"
# A make of its own: what has just been installed is found.
tested:
	@$(RUN_TESTS)
# Built anew in build/coverage, without an optimiser: lines are those of the text. What the tests count stays there for the next time.
COVERAGE := -O0 --coverage -fprofile-update=atomic -DLIMN_COVERAGE
coverage: packages
	+@-$(MAKE) -s --no-print-directory BUILD=build/coverage CFLAGS="$(COVERAGE)" test
	@tools/coverage.sh build/coverage
# A host of the library with 8 threads, of which each has a handle; what ThreadSanitizer finds ends it.
TSAN := -O1 -fsanitize=thread
tsan:
	+@$(PARALLEL) BUILD=build/tsan CFLAGS="$(TSAN)" build/tsan/liblimn.a
	$(Q)$(CC) -std=c11 -D_DEFAULT_SOURCE -g $(TSAN) -Iinclude -o build/tsan/threads tests/embed/threads.c build/tsan/liblimn.a $(LDLIBS)
	@mkdir -p build/tsan/in && cd build/tsan/in && TSAN_OPTIONS=halt_on_error=1 LIMN_CACHE=$(CURDIR)/build/tsan/in ../threads && echo "8 threads: nothing was found"
# What PyTorch exports, imported, evaluated, drawn and trained: a table.
test-models: all
	@LIMN=$(CURDIR)/$(BUILD)/limn tests/onnx/models.sh $(MODELS)
# On a machine with a GPU: the engine on two thousand random programs, queued steps, PyTorch's losses, the CPU's numbers to the
# last bit, bytes of runs that are made again, and ten steps of every example.
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
# Every learner and every training step of every example as C, and for other machines.
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
# tests/laws.sh says which laws there are, and what of.
LAWS_OF = $(if $(filter exports hostile_names doors steps,$(LAW)),$(BUILD)/limn $(BUILD)/c-steps) $(if $(filter exports hostile_names,$(LAW)),,$(BUILD)/tests/$(if $(filter hybrid%,$(LAW)),laws_hybrid,$(if $(filter gestures,$(LAW)),gesture,$(if $(filter options,$(LAW)),options,whole)))_test)
laws: packages
	+@$(PARALLEL) $(LAWS_OF)
	@JOBS=$(JOBS) tests/laws.sh $(BUILD) $(or $(LAW),all) $(or $(FIRST),1) $(or $(RUNS),1000)
# Who may use whom.
rooms:
	@tools/rooms.sh $(BUILD)
# How large the source is, and how often it repeats itself: a table.
shape:
	@tools/shape.sh
# How long a function may be, and how many parameters it may have.
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
# The fuzzers: every harness of tests/fuzz on all cores, SECONDS in all (FUZZ='json csv': these alone). What they keep is in build/fuzz/corpus,
# what they find in build/fuzz/found. `fuzz` is clang's, under the sanitizers; `fuzz-plain` any compiler's, with SAN=1 under the sanitizers.
# Only the readers of files are watched comparison by comparison: the language has its own mutations.
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
# The same without libFuzzer: tests/fuzz/replay.c makes the inputs, and is told which places they reach; not in base, which is
# called from everywhere.
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
# All faults that there are, or as many as there is time for: tests/torture/torture.py says more.
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
