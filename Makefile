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
CPPFLAGS += -Ilib -Iapps -Itests -DFCAM_VERSION='"$(VERSION)"'
# Third-party headers are system headers: their warnings are not ours.
CXXFLAGS += -std=c++20 -pthread $(WARNINGS) $(OPTIMIZE) $(SANITIZE)
LDFLAGS  += -pthread $(SANITIZE)
LIB_LIBS := -lopenblas -lz
APP_LIBS := -lpng -ljpeg

LIB_SOURCES  := $(sort $(wildcard lib/fcam/*/*.cpp))
COMMON       := $(sort $(wildcard apps/common/*.cpp))
APP_SOURCES  := $(sort $(wildcard apps/*.cpp))
TEST_SOURCES := $(sort $(wildcard tests/*.cpp tests/*/*.cpp))

OBJ           := $(BUILD)/obj
LIB_OBJECTS   := $(LIB_SOURCES:%.cpp=$(OBJ)/%.o)
COMMON_OBJECTS := $(COMMON:%.cpp=$(OBJ)/%.o)
TEST_OBJECTS  := $(TEST_SOURCES:%.cpp=$(OBJ)/%.o)
PROGRAMS      := $(APP_SOURCES:apps/%.cpp=$(BUILD)/bin/%)
LIBRARY       := $(BUILD)/libfcam.a
TEST_PROGRAM  := $(BUILD)/fcam-tests

.PHONY: all lib apps test demo deps asan format check-layers check-headers install uninstall clean help
.DEFAULT_GOAL := all

all: lib apps
lib: $(LIBRARY)
apps: $(PROGRAMS)

help:
	@echo 'make            the library and the programs, into $(BUILD)/'
	@echo 'make deps       install what is missing of the Debian packages that fcam needs'
	@echo 'make demo       train soft, hard and marginal-likelihood attention on Fashion-MNIST and compare them (2 minutes)'
	@echo 'make test       build and run all tests'
	@echo 'make asan       all tests under AddressSanitizer and UndefinedBehaviorSanitizer'
	@echo 'make format     clang-format over all sources'
	@echo 'make check-layers check-headers   the rules of docs/design.md on includes'
	@echo 'make install uninstall   under PREFIX ($(PREFIX)), staged below DESTDIR'
	@echo 'variables: CXX=$(CXX) ARCH=$(ARCH) (as in -march) BUILD=$(BUILD) V=1 (show commands)'

# Objects are rebuilt when compiler or flags change.
FLAGS_FILE := $(OBJ)/flags
FLAGS_NOW  := $(CXX) $(CPPFLAGS) $(CXXFLAGS)
$(FLAGS_FILE): force
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(FLAGS_NOW))' | cmp -s - $@ || echo '$(subst ','\'',$(FLAGS_NOW))' > $@
.PHONY: force

$(OBJ)/%.o: %.cpp $(FLAGS_FILE)
	@mkdir -p $(@D)
	@$(if $(V),:,echo "  CXX   $<")
	$(Q)$(CXX) $(CPPFLAGS) $(CXXFLAGS) $(FILE_FLAGS) -MMD -MP -c -o $@ $<

# Same numbers on every machine: no fused multiply-add where data and weights are drawn.
$(OBJ)/lib/fcam/base/random.o $(OBJ)/lib/fcam/data/%.o: FILE_FLAGS := -ffp-contract=off
# Catch2's main takes long to compile and no time to run.
$(OBJ)/tests/catch_main.o: FILE_FLAGS := -O0

$(LIBRARY): $(LIB_OBJECTS)
	@$(if $(V),:,echo "  AR    $@")
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/bin/%: $(OBJ)/apps/%.o $(COMMON_OBJECTS) $(LIBRARY)
	@mkdir -p $(@D)
	@$(if $(V),:,echo "  LINK  $@")
	$(Q)$(CXX) $(LDFLAGS) -o $@ $^ $(APP_LIBS) $(LIB_LIBS)

$(TEST_PROGRAM): $(TEST_OBJECTS) $(COMMON_OBJECTS) $(LIBRARY)
	@$(if $(V),:,echo "  LINK  $@")
	$(Q)$(CXX) $(LDFLAGS) -o $@ $^ $(APP_LIBS) $(LIB_LIBS)

test: $(TEST_PROGRAM) $(PROGRAMS)
	FCAM_BIN=$(abspath $(BUILD))/bin $(TEST_PROGRAM) $(TESTS)

.SECONDARY:
-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)
