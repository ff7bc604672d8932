# The front door; all build logic is in CMakeLists.txt.
BUILD ?= build
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
DESTDIR ?=
CMAKE_FLAGS ?=
ccache := $(if $(shell command -v ccache),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
configure = cmake -S . -B $(BUILD) -G Ninja -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(ccache) $(WERROR) $(GPUS) $(unity) $(CMAKE_FLAGS)
build = scripts/build $(BUILD) $(JOBS)
# Our own checks take warnings for errors.  A build folder keeps it, so that
# `make` does not compile everything again after them.
check check-all lint fuzz asan tsan bench analyze: export WERROR = -DDL_WERROR=ON
# Targets that compile everything once compile several files as one, in a third of the
# time; a build folder that `make` began goes on compiling each alone: less after a change.
demo install test lint fuzz asan tsan bench analyze gpu-check peers peers-models peers-distributed \
  soak engines dist dist-cuda deb: export WHOLE = 1
unity = $(if $(WHOLE),$(if $(wildcard $(BUILD)/CMakeCache.txt),,-DCMAKE_UNITY_BUILD=ON))
# Scripts wait a good deal, so two run on each core.
at_once = $(shell echo $$((2 * $(JOBS))))
# Packages have machine code for every generation of GPUs.
dist dist-cuda deb: export GPUS = -DCMAKE_CUDA_ARCHITECTURES=all-major
# Without it ccache keeps nothing that was compiled with precompiled headers.
export CCACHE_SLOPPINESS ?= pch_defines,time_macros,include_file_mtime,include_file_ctime

.PHONY: all
## all: build the tools, each file alone, for work on them (the default; 12 minutes)
all: configure
	$(build) tools man

.PHONY: demo
## demo: build, and run the pipeline from raw data to predictions (five minutes)
demo: bootstrap
	$(MAKE) all
	scripts/demo --bin $(BUILD)/bin $(if $(MNIST),--mnist '$(MNIST)')

.PHONY: test
## test: build and run all tests, lint and fuzz (20 minutes on two cores)
test: bootstrap-test
	$(MAKE) lint
	$(MAKE) check-all
	$(MAKE) fuzz peers-quick

.PHONY: check
## check: run unit and command-line tests (five minutes on two cores)
check: configure
	$(build) all
	ctest --test-dir $(BUILD) -j $(at_once) --output-on-failure -LE cluster

.PHONY: check-all
## check-all: run `check` and the cluster tests, and compile the benchmarks
check-all: configure
	$(build) all benches peers_tools
	ctest --test-dir $(BUILD) -j $(at_once) --output-on-failure

.PHONY: fuzz
## fuzz: run every parser under libFuzzer for FUZZ_SECONDS (default 12) each
fuzz:
	$(MAKE) configure BUILD=$(BUILD)-fuzz CMAKE_FLAGS='-DDL_FUZZ=ON \
	  -DCMAKE_CXX_COMPILER=clang++ -DDL_SANITIZE=address,undefined'
	scripts/fuzz $(BUILD)-fuzz

.PHONY: gpu-check
## gpu-check: test and measure the device cuda on a host with a GPU (nine minutes)
gpu-check: configure
	$(build) all peers_tools
	scripts/gpu-check --build $(BUILD)

.PHONY: peers-quick
## peers-quick: check that other people's programs open our files
peers-quick: configure
	scripts/peers --bin $(BUILD)/bin quick

.PHONY: peers
## peers: compare results, speed and memory with PyTorch and others (an hour)
peers: configure
	$(build) peers_tools
	scripts/peers --bin $(BUILD)/bin parity
	scripts/peers --bin $(BUILD)/bin onnx
	scripts/peers --bin $(BUILD)/bin keras
	scripts/peers --bin $(BUILD)/bin import
	scripts/peers --bin $(BUILD)/bin onnx-in --torchvision
	scripts/peers --bin $(BUILD)/bin onnx-in
	scripts/peers --bin $(BUILD)/bin onnx-others
	scripts/peers --bin $(BUILD)/bin parity --random 300
	scripts/peers --bin $(BUILD)/bin $(PEERS) --json $(BUILD)/peers.json

.PHONY: peers-models
## peers-models: compare imported and exported models with Keras and ONNX Runtime
peers-models: configure
	$(build) tools peers_tools make-dataset
	scripts/peers --bin $(BUILD)/bin import
	scripts/peers --bin $(BUILD)/bin import --applications
	scripts/peers --bin $(BUILD)/bin models random
	scripts/peers --bin $(BUILD)/bin models training
	scripts/peers --bin $(BUILD)/bin models classes
	scripts/peers --bin $(BUILD)/bin models keras1
	scripts/peers --bin $(BUILD)/bin onnx
	scripts/peers --bin $(BUILD)/bin keras
	scripts/peers --bin $(BUILD)/bin onnx-in --torchvision
	scripts/peers --bin $(BUILD)/bin onnx-in --examples

.PHONY: peers-distributed
## peers-distributed: compare training over slow lines with PyTorch's DDP (root)
peers-distributed: configure
	$(build) tools peers_tools
	scripts/peers --bin $(BUILD)/bin distributed $(PEERS) \
	  --json $(BUILD)/peers-distributed.json
	scripts/peers --bin $(BUILD)/bin scaling

.PHONY: soak
## soak: run hundreds of kills, stops, bad lines and restarts (half an hour)
soak: configure
	$(build) all
	tests/run --bin $(BUILD)/bin --limit 2000 tests/soak

.PHONY: engines
## engines: test under Slurm, MPI, ssh, Kubernetes and others (root, half an hour)
engines: configure
	$(build) all
	tests/run --bin $(BUILD)/bin --limit 900 tests/engines

.PHONY: asan tsan
## asan: run unit and command-line tests under AddressSanitizer and UBSan
asan:
	$(MAKE) check BUILD=$(BUILD)-asan CMAKE_FLAGS='-DDL_SANITIZE=address,undefined'
## tsan: run unit tests under ThreadSanitizer
tsan:
	$(MAKE) check BUILD=$(BUILD)-tsan CMAKE_FLAGS='-DDL_SANITIZE=thread'

.PHONY: bench
## bench: measure kernels, codec and I/O as fractions of the machine's peak
bench: configure
	$(build) benches
	for bench in $(BUILD)/tests/*_bench; do $$bench || exit; done

.PHONY: lint
## lint: check format, code, shell scripts, sizes, words, and help against pages
lint: configure
	scripts/lint --build $(BUILD)

.PHONY: analyze
## analyze: run clang's static analyzer over the library and the tools (slow)
analyze: configure
	scripts/tidy $(BUILD) --checks='-*,clang-analyzer-*'

.PHONY: format
## format: format all C++ in the style of .clang-format
format:
	git ls-files '*.cpp' '*.h' '*.cu' | xargs "$$(scripts/clang-tools)/clang-format" -i

.PHONY: install
## install: install below PREFIX= (default /usr/local), staged in DESTDIR=
install: all
	DESTDIR=$(DESTDIR) cmake --install $(BUILD) --prefix $(PREFIX) >/dev/null

.PHONY: dist dist-cuda deb wheel
OUTPUT ?= .
## dist: make a tarball of the tools with all libraries that they need, in OUTPUT
dist: all
	scripts/dist $(BUILD) $(OUTPUT)
## dist-cuda: make that tarball with CUDA's libraries, for hosts with NVIDIA's driver
dist-cuda: all
	scripts/dist --cuda $(BUILD) $(OUTPUT)
## wheel: make the Python packages, for Spark and for notebooks, in OUTPUT, without compiling
wheel:
	scripts/wheel $(OUTPUT)
## deb: make a package for the Debian that this machine runs, in OUTPUT
deb: all
	scripts/deb $(BUILD) $(OUTPUT)

.PHONY: test-distros
## test-distros: build, test and install on Debian 12 and 13, in chroots (root)
test-distros:
	scripts/test-distros

.PHONY: clean
## clean: remove everything that was built
clean:
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-tsan $(BUILD)-fuzz $(BUILD)-distros demo.out

.PHONY: help
## help: list the targets
help:
	@sed -n 's/^## /  /p' Makefile

.PHONY: setup bootstrap bootstrap-test
## setup: install the Debian packages that all targets but `engines` need
setup: bootstrap-test
	scripts/bootstrap --packages
bootstrap:
	scripts/bootstrap
bootstrap-test:
	scripts/bootstrap --test

# Always, since packages that were missing may be there by now.
.PHONY: configure
configure:
	@$(configure) >/dev/null
