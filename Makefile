# Everything is built with the tag duckdb_arrow, without which the SQL driver
# cannot hand out Arrow batches.
GOFLAGS_ := -tags duckdb_arrow
VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
COMMIT   := $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
LDFLAGS  := -X main.version=$(VERSION) -X main.commit=$(COMMIT)
TESTFLAGS ?=
comma    := ,

# The recordings whose demo store `make demo` makes, and the function it looks at.
DEMO       := .demo
DEMO_STORE := $(DEMO)/store
DEMO_CASE  := recur.er
DEMO_FUNC  := is_even

.PHONY: help page build worker dist demo test race soak lint fmt bench profile bench-scale bench-year peers docs clean check-go check-cxx
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | while IFS="$$(printf '\t')" read -r t d; do printf '  make %-8s %s\n' "$$t" "$$d"; done

check-go:
	@command -v go >/dev/null || { echo "make: no go command: install Go 1.26 or newer from https://go.dev/dl" >&2; exit 1; }
	@v=$$(go env GOVERSION) || exit 1; v=$${v#go}; major=$${v%%.*}; minor=$${v#*.}; minor=$${minor%%.*}; minor=$${minor%%[!0-9]*}; \
	if [ "$$major" -lt 1 ] || { [ "$$major" -eq 1 ] && [ "$${minor:-0}" -lt 26 ]; }; then \
	  echo "make: this is Go $$v: install Go 1.26 or newer from https://go.dev/dl" >&2; exit 1; fi

check-cxx:
	@command -v g++ >/dev/null || command -v c++ >/dev/null || { \
	  echo "make: no C++ compiler, which linking DuckDB needs: apt-get install g++ (Debian, Ubuntu), dnf install gcc-c++ (Fedora)" >&2; exit 1; }

# If the archive of the C++ library is there, the library is linked into the program, which saves
# the milliseconds that finding its symbols takes at each start. The linker finds the archive in a
# folder that has nothing else in it. The path of this folder must not contain spaces.
CXXLIB    := $(filter /%,$(shell c++ -print-file-name=libstdc++.a 2>/dev/null))
CXXFOLDER := $(CURDIR)/bin/lib
LINKED    := $(if $(CXXLIB),$(if $(word 2,$(CURDIR)),,-L$(CXXFOLDER) -static-libgcc -Wl$(comma)--exclude-libs$(comma)ALL))

build: check-go check-cxx ## build bin/stackmill
	@mkdir -p bin
	$(if $(LINKED),@rm -rf $(CXXFOLDER) && mkdir $(CXXFOLDER) && ln -s $(CXXLIB) $(CXXFOLDER)/)
	go build $(GOFLAGS_) -ldflags "$(LDFLAGS) -extldflags '$(LINKED)'" -o bin/stackmill ./cmd/stackmill

worker: check-go ## build bin/stackmill-worker, static: it ingests and plans, and has no SQL engine
	@mkdir -p bin
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w $(LDFLAGS)" -o bin/stackmill-worker ./cmd/stackmill

# Released files have the time of the commit. If no commit is tagged, their version contains that time,
# so that versions sort by it.
DIST_TIME    := $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
DIST_VERSION := $(or $(patsubst v%,%,$(shell git describe --tags --match 'v[0-9]*' 2>/dev/null)),0.0.0-$(shell date -u -d @$(DIST_TIME) +%Y%m%d%H%M).g$(COMMIT))

# On x86-64, released programs are linked with the libraries of Debian 11, which are downloaded (11 MB),
# so that they run on systems that are older than this machine. SYSROOT= links them with the libraries
# of this machine.
SYSROOT  := $(if $(filter x86_64,$(shell uname -m)),$(if $(word 2,$(CURDIR)),,bin/sysroot))
DISTLINK := $(if $(SYSROOT),-B$(CURDIR)/$(SYSROOT)/usr/lib/gcc/x86_64-linux-gnu/10 -B$(CURDIR)/$(SYSROOT)/usr/lib/x86_64-linux-gnu \
	-static-libgcc -Wl$(comma)--exclude-libs$(comma)ALL $(CURDIR)/$(SYSROOT)/compat.o,$(LINKED))

bin/sysroot: .ci/dist/sysroot/make.sh .ci/dist/sysroot/compat.c
	.ci/dist/sysroot/make.sh $@

dist: check-go check-cxx $(SYSROOT) ## make tarballs, .deb, .rpm, container images, SBOMs and checksums in dist
	@rm -rf bin/dist $(CXXFOLDER) && mkdir -p bin/dist
	$(if $(LINKED),@mkdir $(CXXFOLDER) && ln -s $(CXXLIB) $(CXXFOLDER)/)
	$(if $(SYSROOT),CC="gcc --sysroot=$(CURDIR)/$(SYSROOT)") go build $(GOFLAGS_) -trimpath \
	  -ldflags "-s -w -buildid= $(LDFLAGS) -extldflags '$(DISTLINK)'" -o bin/dist/stackmill ./cmd/stackmill
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w $(LDFLAGS)" -o bin/dist/stackmill-worker ./cmd/stackmill
	SOURCE_DATE_EPOCH=$(DIST_TIME) bin/dist/stackmill man bin/dist
	cd .ci/dist && go run . -root ../.. -out ../../dist -version $(DIST_VERSION) -time $(DIST_TIME) $(if $(SYSROOT),-glibc 2.28)

demo: build ## ingest real recordings into a fresh store and look into it
	@rm -rf $(DEMO) && mkdir -p $(DEMO)
	tar -xzf testdata/gprofng/experiments.tar.gz -C $(DEMO)
	bin/stackmill ingest --store $(DEMO_STORE) --recursive $(DEMO)/exp
	bin/stackmill report functions --store $(DEMO_STORE) --experiment $(DEMO_CASE)
	bin/stackmill report callers-callees --store $(DEMO_STORE) --experiment $(DEMO_CASE) --function $(DEMO_FUNC)
	@printf '%s\n' '' 'Paste the next line, then try those below it, or the README:' '' \
	  "export PATH=\"$(CURDIR)/bin:\$$PATH\" STACKMILL_STORE=\"$(CURDIR)/$(DEMO_STORE)\"" '' \
	  'stackmill experiments' \
	  'stackmill problems' \
	  'stackmill report call-tree --experiment cxx.er --limit 30' \
	  'stackmill report functions --experiment heap.er --metric heapleakbytes' \
	  'stackmill query "FROM top(5) WHERE experiment = '"'cxx.er'"'"' \
	  'stackmill check' \
	  'stackmill query' '' \
	  'Or see a flame graph in the browser:' '' \
	  "bin/stackmill serve --store $(DEMO_STORE) --open='?view=flame&experiment=$(DEMO_CASE)'"

# The time limit is for machines that are busy with other work; the tests take some minutes.
test: check-go check-cxx ## run all tests, list at the end which were skipped and which took long
	cd .ci/dist && go test .
	go run ./cmd/testsummary $(GOFLAGS_) -timeout 40m $(TESTFLAGS) ./...

# Packages that run concurrently. Some tests are skipped: TestOverlappingIDs and TestChainOfForks measure
# memory, of which the race detector needs more; the others take long under it, and run what shorter tests
# run, too.
RACED := ./internal/ordered ./internal/objstore ./schema/s3cache ./schema/storedir ./stages/attribute ./stages/program \
	./stages/unwind ./stages/code ./stages/samples ./stages/structure ./stages/decode/gprofng ./stages/decode/mmap \
	./stages/decode/perfdata ./stages/loadobject/cache ./stages/write ./pipeline/compact ./pipeline
UNRACED := ^(TestOverlappingIDs|TestChainOfForks|TestResymbolizeData|TestForms|TestLimits|TestHugeStacks|TestCuts|TestManyLives|TestCommit|TestDecompressedSize|TestResymbolizeWithoutLists|TestSpecialFiles|TestWholeStacks|TestLittleMemory|TestManyVisible|TestSystemObjects)$$

race: check-go check-cxx ## run the tests of concurrent packages under the race detector
	go test $(GOFLAGS_) -race -vet=off -timeout 40m -skip '$(UNRACED)' $(RACED)

soak: build ## damage recordings, inject faults and fuzz for long: SOAKFLAGS='-n 3000 -fuzz 60m'
	STACKMILL_SOAK=1 go test $(GOFLAGS_) -count 1 -timeout 0 -v ./cmd/acceptance/faults
	STACKMILL_SOAK=1 go test $(GOFLAGS_) -count 1 -timeout 0 -v -run TestHostileDoors ./cmd/stackmill
	STACKMILL_SOAK=1 go test $(GOFLAGS_) -count 1 -timeout 0 -v -run TestChangedNumbersAreDoubted ./queries
	STACKMILL_SOAK=1 go test $(GOFLAGS_) -count 1 -timeout 0 -v -run TestPanels ./cmd/acceptance/page
	STACKMILL_SOAK=1 go test $(GOFLAGS_) -count 1 -timeout 0 -v ./cmd/acceptance/nights
	go test $(GOFLAGS_) -count 1 -timeout 0 -v -run TestKilledReaders ./cmd/acceptance/s3 -kills 500
	go test $(GOFLAGS_) -race -count 1 -timeout 0 -v -run TestWholeStacks ./pipeline
	go run $(GOFLAGS_) ./cmd/mutate -binary bin/stackmill -base 'w_.*' -n 1000
	go run $(GOFLAGS_) ./cmd/mutate -binary bin/stackmill -fuzz 10m $(SOAKFLAGS)

GO_FILES = $$(find . -name node_modules -prune -o -name '*.go' -print)

lint: check-go check-cxx ## gofmt, go vet and staticcheck; prettier and eslint if npm ci was run in queries/serve/web
	@bad=$$(gofmt -l $(GO_FILES)); if [ -n "$$bad" ]; then echo "make: not formatted (make fmt):" >&2; echo "$$bad" >&2; exit 1; fi
	go vet $(GOFLAGS_) ./...
	CGO_ENABLED=0 go vet ./pipeline/... ./stages/... ./schema/... ./internal/... # ingesting needs no DuckDB
	CGO_ENABLED=0 go build -o /dev/null ./cmd/stackmill
	cd .ci/dist && go vet .
	go tool -modfile=.ci/tools/go.mod staticcheck $(GOFLAGS_) ./...
	@if [ -d queries/serve/web/node_modules ]; then cd queries/serve/web && npm run --silent lint && npm run --silent check; fi

fmt: check-go ## format the Go files, and the page's if npm ci was run in queries/serve/web
	gofmt -w $(GO_FILES)
	@if [ -d queries/serve/web/node_modules ]; then cd queries/serve/web && npm run --silent format; fi

page: ## build the page that stackmill serve shows from its sources in queries/serve/web
	npm ci --no-audit --no-fund --prefix queries/serve/web
	cd queries/serve/web && npm run --silent check && npm run --silent build

docs: check-go ## write what follows from the declarations of tables and views: pages of docs, queries/template.duckdb.zst
	go generate ./queries

bench: build ## measure time, memory and bytes, against gprofng and perf: BENCHFLAGS='-only distinct'
	go run $(GOFLAGS_) ./cmd/bench $(BENCHFLAGS)

profile: build ## renew cmd/stackmill/default.pgo, the profile that the program is built with
	go run $(GOFLAGS_) ./cmd/bench -profile cmd/stackmill/default.pgo

bench-scale: ## measure a store of ten thousand small experiments
	go run $(GOFLAGS_) ./cmd/bench -only scale -rounds 1 -experiments 10000 $(BENCHFLAGS)

bench-year: ## measure a store that gets new experiments every night for a year
	go run $(GOFLAGS_) ./cmd/bench -only year -nights 365 $(BENCHFLAGS)

peers: check-go check-cxx ## record real programs now, and compare every function with perf and gprofng
	go run $(GOFLAGS_) ./cmd/peers $(PEERSFLAGS)

clean: ## remove what the other targets made
	rm -rf bin dist $(DEMO) .bench mutants
