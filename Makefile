# fcam: attention models on a CPU. `make help` lists the targets.

CXX      ?= g++
ARCH     ?= native
BUILD    ?= build
PREFIX   ?= /usr/local
DESTDIR  ?=
VERSION  := 0.1.0
OPTIMIZE ?= -O3 -march=$(ARCH)
SANITIZE ?=

Q := $(if $(V),,@)
ifeq ($(origin CXX),default)
  CXX := g++
endif

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow
# g++ 12 warns of overlapping copies inside std::string that cannot happen (its bug 105651).
WARNINGS += $(if $(findstring clang,$(shell $(CXX) --version)),,-Wno-restrict)
# What the project needs, apart from CPPFLAGS, CXXFLAGS and LDFLAGS, which are the user's.
OUR_CPPFLAGS := -Ilib -Iapps -Itests -DFCAM_VERSION='"$(VERSION)"'
# Third-party headers are system headers: their warnings are not ours.
OUR_CXXFLAGS = -std=c++20 -pthread $(WARNINGS) $(OPTIMIZE) $(SANITIZE)
OUR_LDFLAGS = -pthread $(SANITIZE)
LIB_LIBS := -lopenblas -lz
APP_LIBS := -lpng -ljpeg

LIB_SOURCES  := $(sort $(wildcard lib/fcam/*/*.cpp))
COMMON       := $(sort $(wildcard apps/common/*.cpp))
APP_SOURCES  := $(sort $(wildcard apps/*.cpp))
FAULTY_DISK  := tests/support/faulty_disk.cpp
TEST_SOURCES := $(filter-out $(FAULTY_DISK) tests/fuzz/%,$(sort $(wildcard tests/*.cpp tests/*/*.cpp)))
FUZZ_SOURCES := $(sort $(wildcard tests/fuzz/*_fuzz.cpp))

OBJ           := $(BUILD)/obj
LIB_OBJECTS   := $(LIB_SOURCES:%.cpp=$(OBJ)/%.o)
COMMON_OBJECTS := $(COMMON:%.cpp=$(OBJ)/%.o)
TEST_OBJECTS  := $(TEST_SOURCES:%.cpp=$(OBJ)/%.o)
PROGRAMS      := $(APP_SOURCES:apps/%.cpp=$(BUILD)/bin/%)
LIBRARY       := $(BUILD)/libfcam.a
TEST_PROGRAM  := $(BUILD)/fcam-tests

.PHONY: all lib apps test test-kills demo figures bench-compare deps asan tsan fuzz fuzz-programs fuzz-seeds check-library \
  format check-layers check-headers install uninstall test-install man docs clean help
.DEFAULT_GOAL := all

# Targets that build call make again on all cores, unless -j was given.
JOBS ?= $(shell nproc 2>/dev/null || echo 1)
BUILD_WITH = +$(Q)$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS))

all: lib apps
lib:
	$(BUILD_WITH) $(LIBRARY)
apps:
	$(BUILD_WITH) $(PROGRAMS)

help:
	@echo 'make            the library and the programs, into $(BUILD)/'
	@echo 'make deps       install what is missing of the Debian packages that fcam needs'
	@echo 'make demo       train soft, hard and marginal-likelihood attention on Fashion-MNIST and compare them (2 minutes)'
	@echo 'make figures    the figures of the paper on Fashion-MNIST with small networks, and its observations judged (15 minutes)'
	@echo 'make figures FULL=1 DATA=cifar10:DIR   the same in the setting of the paper: hours, goes on where it was stopped'
	@echo 'make test       build and run all tests'
	@echo 'make bench-compare   time training steps against PyTorch (python3-torch), many minutes on an idle machine'
	@echo 'make asan       all tests under AddressSanitizer and UndefinedBehaviorSanitizer'
	@echo 'make tsan       all tests under ThreadSanitizer'
	@echo 'make test-kills KILLS=50   kill a run at so many random moments, and come to the same bytes'
	@echo 'make fuzz       feed every reader of files damaged ones (clang++), SECONDS=$(SECONDS) each; FUZZERS="idx png": some'
	@echo 'make format     clang-format over all sources'
	@echo 'make check-layers check-headers check-library   the rules of docs/design.md on includes'
	@echo 'make install uninstall   under PREFIX ($(PREFIX)), staged below DESTDIR'
	@echo 'make test-install   install, build the examples against the installed library, run them'
	@echo 'make man        manual pages from --help (help2man)'
	@echo 'make docs       HTML documentation of the headers (doxygen)'
	@echo 'variables: CXX=$(CXX) ARCH=$(ARCH) (as in -march) BUILD=$(BUILD) V=1 (show commands)'

# `make deps test` with -j must still install before it builds.
ifneq ($(filter deps,$(MAKECMDGOALS)),)
lib apps test demo figures: | deps
endif

# Objects are rebuilt when compiler or flags change.
FLAGS_FILE := $(OBJ)/flags
FLAGS_NOW  := $(CXX) $(OUR_CPPFLAGS) $(CPPFLAGS) $(OUR_CXXFLAGS) $(CXXFLAGS)
$(FLAGS_FILE): force
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(FLAGS_NOW))' | cmp -s - $@ || echo '$(subst ','\'',$(FLAGS_NOW))' > $@
.PHONY: force

$(OBJ)/%.o: %.cpp $(FLAGS_FILE)
	@mkdir -p $(@D)
	@$(if $(V),:,echo "  CXX   $<")
	$(Q)$(CXX) $(OUR_CPPFLAGS) $(CPPFLAGS) $(OUR_CXXFLAGS) $(CXXFLAGS) $(FILE_FLAGS) -MMD -MP -c -o $@ $<

# Same numbers on every machine: no fused multiply-add where data and weights are drawn.
$(OBJ)/lib/fcam/base/random.o $(OBJ)/lib/fcam/data/%.o: FILE_FLAGS := -ffp-contract=off
# Kernels for every instruction set, chosen when the program runs.
ifeq ($(findstring x86_64,$(shell $(CXX) -dumpmachine)),x86_64)
$(OBJ)/lib/fcam/nn/conv_v%.o: FILE_FLAGS = -march=x86-64-$(patsubst conv_%,%,$(basename $(notdir $@)))
endif
# Tests take longer to compile than to run, and Catch2's main takes no time to run at all.
TEST_FLAGS ?= -O1
PRELUDE    := $(OBJ)/tests/prelude.h
$(OBJ)/tests/%.o: FILE_FLAGS = $(TEST_FLAGS) -include $(PRELUDE)
$(OBJ)/tests/fuzz/%.o: FILE_FLAGS = $(TEST_FLAGS)
$(OBJ)/tests/catch_main.o: FILE_FLAGS := -O0
$(filter-out $(OBJ)/tests/catch_main.o,$(TEST_OBJECTS)): $(PRELUDE).gch
$(PRELUDE).gch: tests/prelude.h $(FLAGS_FILE)
	@mkdir -p $(@D)
	@$(if $(V),:,echo "  CXX   $<")
	$(Q)cp $< $(PRELUDE)
	$(Q)$(CXX) $(OUR_CPPFLAGS) $(CPPFLAGS) $(OUR_CXXFLAGS) $(CXXFLAGS) $(TEST_FLAGS) -MMD -MP -MF $(PRELUDE).d -MT $@ \
	  -x c++-header -o $@ $<

$(LIBRARY): $(LIB_OBJECTS)
	@$(if $(V),:,echo "  AR    $@")
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/bin/%: $(OBJ)/apps/%.o $(COMMON_OBJECTS) $(LIBRARY)
	@mkdir -p $(@D)
	@$(if $(V),:,echo "  LINK  $@")
	$(Q)$(CXX) $(OUR_LDFLAGS) $(LDFLAGS) -o $@ $^ $(APP_LIBS) $(LIB_LIBS)

$(TEST_PROGRAM): $(TEST_OBJECTS) $(COMMON_OBJECTS) $(LIBRARY)
	@$(if $(V),:,echo "  LINK  $@")
	$(Q)$(CXX) $(OUR_LDFLAGS) $(LDFLAGS) -o $@ $^ $(APP_LIBS) $(LIB_LIBS)

# What tests preload into the programs, to make their output fail; without sanitizers, which the programs bring.
$(BUILD)/faulty-disk.so: $(FAULTY_DISK)
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++20 $(WARNINGS) -O1 -fPIC -shared -o $@ $< -ldl

test:
	$(BUILD_WITH) $(TEST_PROGRAM) $(PROGRAMS) $(BUILD)/faulty-disk.so
	FCAM_BIN=$(abspath $(BUILD))/bin tests/run.sh $(TEST_PROGRAM) $(TESTS)

# Kills a run at so many random moments.
KILLS ?= 50
test-kills:
	$(Q)FCAM_KILLS=$(KILLS) $(MAKE) test TESTS='[kills]'

# Debug information and checks that stop at the first fault; its own build folder.
asan:
	$(Q)$(MAKE) test BUILD=$(BUILD)/asan OPTIMIZE='-O1 -g1 -march=$(ARCH)' TEST_FLAGS=-O0 \
	  SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=all'

# What threads do to each other. OpenBLAS is not instrumented, so it has no threads of its own here; nor are forked
# children followed.
tsan:
	$(Q)OPENBLAS_NUM_THREADS=1 \
	  TSAN_OPTIONS='halt_on_error=1 die_after_fork=0 suppressions=$(CURDIR)/tests/tsan-suppressions.txt' \
	  $(MAKE) test BUILD=$(BUILD)/tsan OPTIMIZE='-O1 -g1 -march=$(ARCH)' TEST_FLAGS=-O0 SANITIZE='-fsanitize=thread'

# --- fuzzing -----------------------------------------------------------------------------------------------------------
# Each reader of files under libFuzzer and the sanitizers, one after the other; tests/fuzz/fuzz.h limits its memory. The
# seeds were made by fuzz-seeds; what the fuzzer finds on top stays in the build folder.
SECONDS  ?= 600
FUZZ_CXX ?= clang++
FUZZERS  ?= $(FUZZ_SOURCES:tests/fuzz/%_fuzz.cpp=%)
FUZZ     := $(BUILD)/fuzz
FUZZ_COMMON := decode decode_png decode_jpeg toml

fuzz:
	$(Q)$(MAKE) --no-print-directory fuzz-programs BUILD=$(FUZZ) CXX='$(FUZZ_CXX)' FUZZERS='$(FUZZERS)' \
	  OPTIMIZE='-O1 -g1 -march=$(ARCH)' SANITIZE='-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all'
	@for name in $(FUZZERS); do \
	  mkdir -p $(FUZZ)/corpus/$$name && \
	  echo "fuzzing $$name for $(SECONDS) seconds" && \
	  ASAN_OPTIONS=quarantine_size_mb=16:allocator_release_to_os_interval_ms=-1 \
	    $(FUZZ)/$$name -max_total_time=$(SECONDS) -timeout=60 -rss_limit_mb=1024 -malloc_limit_mb=256 -max_len=16384 \
	    -verbosity=0 -print_final_stats=1 -artifact_prefix=$(FUZZ)/failed-$$name- \
	    $(FUZZ)/corpus/$$name tests/fuzz/seeds/$$name > $(FUZZ)/$$name.log 2>&1 || { cat $(FUZZ)/$$name.log; exit 1; }; \
	  grep number_of_executed_units $(FUZZ)/$$name.log; \
	done

fuzz-programs:
	$(BUILD_WITH) $(FUZZERS:%=$(BUILD)/%)

$(FUZZ_SOURCES:tests/fuzz/%_fuzz.cpp=$(BUILD)/%): $(BUILD)/%: $(OBJ)/tests/fuzz/%_fuzz.o \
    $(FUZZ_COMMON:%=$(OBJ)/apps/common/%.o) $(LIBRARY)
	@$(if $(V),:,echo "  LINK  $@")
	$(Q)$(CXX) $(OUR_LDFLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(APP_LIBS) $(LIB_LIBS)

fuzz-seeds: $(BUILD)/make-fuzz-seeds
	$(BUILD)/make-fuzz-seeds tests/fuzz/seeds

$(BUILD)/make-fuzz-seeds: $(OBJ)/tests/fuzz/make_seeds.o $(LIBRARY)
	$(Q)$(CXX) $(OUR_LDFLAGS) $(LDFLAGS) -o $@ $^ $(APP_LIBS) $(LIB_LIBS)

# --- the demonstration -------------------------------------------------------------------------------------------------
# Three paradigms on Fashion-MNIST, small networks: sizes chosen to show the paper's pattern within two minutes.
DEMO := $(BUILD)/demo
DEMO_OPTIONS := --data fashion-mnist --focus small --classify small --train 10000 --test 5000 --lr 0.05 --epochs 10 \
  --eval-every 0

demo: apps
	@for loss in sa ha lv; do \
	  $(BUILD)/bin/fcam-train --loss $$loss $(DEMO_OPTIONS) --out $(DEMO)/$$loss --force || exit $$?; \
	done
	@$(BUILD)/bin/fcam-evaluate $(DEMO)/sa $(DEMO)/ha $(DEMO)/lv --plot $(DEMO)/heat-maps.png
	@echo 'the three heat maps side by side: $(DEMO)/heat-maps.png'

# --- the paper's figures -----------------------------------------------------------------------------------------------
# Quick: Fashion-MNIST and small networks. FULL=1 DATA=cifar10:DIR: the paper's setting. Both go on where they were
# stopped; what FULL has trained stays in FULL_RUNS, out of the reach of `make clean`.
FIGURES   := $(BUILD)/figures
FULL_RUNS ?= runs
DATA      ?= cifar10

ifneq ($(FULL),)
figures: LINES := sweeps/figures-full.txt
figures: RUNS := $(FULL_RUNS)
figures: REPORT := $(FULL_RUNS)/report
figures: TRAINED := $(FULL_RUNS)/cifar10-??-m5-n10000-s[123] $(FULL_RUNS)/cifar10-fixed-??
else
figures: LINES := sweeps/figures-quick.txt
figures: RUNS := $(FIGURES)/runs
figures: REPORT := $(FIGURES)
figures: TRAINED := $(FIGURES)/runs/??-s? $(FIGURES)/runs/fixed-??
endif
# With exec a signal that make passes on reaches the script.
figures: apps
	@BIN=$(BUILD)/bin RUNS='$(RUNS)' DATA='$(DATA)' exec sweeps/run $(LINES) \
	  "$(BUILD)/bin/fcam-report $(TRAINED) $(RUNS)/flow.csv --out '$(REPORT)'"

# --- speed -------------------------------------------------------------------------------------------------------------
bench-compare: $(BUILD)/bin/fcam-bench
	@python3 bench/compare.py --fcam $(BUILD)/bin/fcam-bench $(COMPARE)

# --- what fcam needs ---------------------------------------------------------------------------------------------------
PACKAGES := libxtensor-dev libxtensor-blas-dev libopenblas-dev catch2 libcli11-dev nlohmann-json3-dev zlib1g-dev \
  libpng-dev libjpeg-dev pkg-config gnuplot-nox dataset-fashion-mnist curl

deps:
	@if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then \
	  echo 'This is no Debian system. Install by its own means what these Debian packages hold:'; \
	  echo '  $(PACKAGES)'; \
	  exit 0; \
	fi; \
	missing=; \
	for package in $(PACKAGES); do \
	  status=$$(dpkg-query -W -f='$${Status}' $$package 2>/dev/null); \
	  [ "$$status" = 'install ok installed' ] || missing="$$missing $$package"; \
	done; \
	if [ -z "$$missing" ]; then echo 'All packages that fcam needs are installed.'; exit 0; fi; \
	echo "Installing with apt-get:$$missing"; \
	sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	$$sudo apt-get update -q && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $$missing

# --- rules of the house ------------------------------------------------------------------------------------------------
HEADERS := $(sort $(wildcard lib/fcam/*.h lib/fcam/*/*.h apps/common/*.h tests/support/*.h))

format:
	@clang-format -i $(HEADERS) $(LIB_SOURCES) $(APP_SOURCES) $(COMMON) $(TEST_SOURCES) $(wildcard tests/fuzz/*.cpp tests/*/*.h)

check-layers:
	@sh tests/check-layers.sh

check-library: lib
	@sh tests/check-library.sh $(LIBRARY)

check-headers:
	$(BUILD_WITH) $(HEADERS:%=$(OBJ)/headers/%.checked)
	@echo '$(words $(HEADERS)) headers compile by themselves'

$(OBJ)/headers/%.checked: % $(FLAGS_FILE)
	@mkdir -p $(@D)
	$(Q)echo '#include "$(abspath $<)"' | $(CXX) $(OUR_CPPFLAGS) $(CPPFLAGS) $(OUR_CXXFLAGS) $(CXXFLAGS) -fsyntax-only -x c++ -
	@touch $@

# --- installation ------------------------------------------------------------------------------------------------------
PUBLIC_HEADERS := $(sort $(wildcard lib/fcam/*.h lib/fcam/*/*.h))
TO = $(DESTDIR)$(PREFIX)

install: lib apps
	install -d '$(TO)/bin' '$(TO)/lib/pkgconfig' '$(TO)/share/man/man1' '$(TO)/share/bash-completion/completions'
	install -m 755 $(PROGRAMS) '$(TO)/bin'
	install -m 644 $(LIBRARY) '$(TO)/lib'
	install -m 644 $(wildcard docs/man/*.1) '$(TO)/share/man/man1'
	@for program in $(notdir $(PROGRAMS)); do \
	  install -m 644 apps/completion.bash "$(TO)/share/bash-completion/completions/$$program" || exit 1; \
	done
	@for header in $(PUBLIC_HEADERS:lib/%=%); do \
	  install -d "$(TO)/include/$${header%/*}" && install -m 644 "lib/$$header" "$(TO)/include/$$header" || exit 1; \
	done
	@printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$${prefix}/lib' 'includedir=$${prefix}/include' '' \
	  'Name: fcam' 'Description: soft, hard and marginal-likelihood attention models' 'Version: $(VERSION)' \
	  'Requires.private: xtensor' 'Cflags: -I"$${includedir}" -pthread' \
	  'Libs: -L"$${libdir}" -lfcam $(LIB_LIBS) -pthread' > '$(TO)/lib/pkgconfig/fcam.pc'

uninstall:
	rm -f $(patsubst %,'$(TO)/bin/%',$(notdir $(PROGRAMS))) '$(TO)/lib/libfcam.a' '$(TO)/lib/pkgconfig/fcam.pc'
	rm -f $(patsubst %,'$(TO)/share/man/man1/%.1',$(notdir $(PROGRAMS)))
	rm -f $(patsubst %,'$(TO)/share/bash-completion/completions/%',$(notdir $(PROGRAMS)))
	rm -rf '$(TO)/include/fcam'

# The library as a program outside sees it: installed into a folder with a space in its name, the examples built against
# it and run.
test-install: lib apps
	@CXX='$(CXX)' BUILD='$(abspath $(BUILD))' MAKE='$(MAKE)' sh tests/test-install.sh

# Manual pages from --help; docs/man is committed, so that an installation needs no help2man.
man: apps
	@mkdir -p docs/man
	@for program in $(PROGRAMS); do \
	  help2man --no-info --no-discard-stderr --output=docs/man/$${program##*/}.1 $$program || exit 1; \
	done

# Always into build/, as docs/Doxyfile has it.
docs:
	@command -v doxygen > /dev/null || { echo 'doxygen is missing: install it (Debian: apt-get install doxygen)' >&2; exit 1; }
	$(Q)doxygen docs/Doxyfile
	@echo 'HTML documentation of the headers: build/doxygen/index.html'

clean:
	rm -rf $(BUILD)

.SECONDARY:
-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)
