# The front door; all build logic is in CMakeLists.txt.
BUILD ?= build
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
CMAKE_FLAGS ?=

.PHONY: all
## all: build everything (the default)
all: $(BUILD)/build.ninja
	ninja -C $(BUILD) -j $(JOBS)

$(BUILD)/build.ninja: CMakeLists.txt
	cmake -S . -B $(BUILD) -G Ninja -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(CMAKE_FLAGS)

.PHONY: help
## help: this list
help:
	@sed -n 's/^## /  /p' Makefile
