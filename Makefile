# bundles  everything: validate, generate, cross-compile, release tree in dist/
# test     all tests that need Go only
# check    format, vet, staticcheck, drift of generated files
GO ?= go
# A clone that belongs to somebody else has no version to stamp.
export GOFLAGS ?= -buildvcs=false
HOST ?= claude-code

.PHONY: bundles text test update check fmt bench demo acceptance acceptance-record soak

bundles:
	$(GO) run ./cmd/build-bundles

text:
	$(GO) run ./cmd/build-bundles --text-only

test:
	$(GO) test ./...

# After a wanted change: what tests compare with becomes what they got. Read the diff.
update:
	UPDATE=1 $(GO) test ./...
	$(GO) run ./cmd/build-bundles --text-only

check:
	@out=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "not formatted; to fix: make fmt"; echo "$$out"; exit 1; fi
	$(GO) vet ./...
	$(GO) vet -tags acceptance ./conformance/...
	GOOS=windows $(GO) vet ./runtime/... ./install/... ./cmd/...
	GOOS=darwin $(GO) vet ./runtime/... ./install/... ./cmd/...
	$(GO) tool staticcheck ./...
	$(GO) run ./cmd/build-bundles fmt --check
	$(GO) run ./cmd/build-bundles --text-only --check

fmt:
	gofmt -w $$(git ls-files '*.go')
	$(GO) run ./cmd/build-bundles fmt

bench:
	$(GO) run ./bench
	$(GO) test ./generators -run '^$$' -bench . -benchtime 20x

# Installs the real host from npm into a cache folder and drives it against a
# model server on loopback.
acceptance:
	HOST=$(HOST) $(GO) test -tags acceptance ./conformance/acceptance -count=1 -v -timeout 30m

acceptance-record:
	HOST=$(HOST) RECORD=1 $(GO) test -tags acceptance ./conformance/acceptance -count=1 -v -timeout 30m

# One session of the real Claude Code, as the model saw it.
demo:
	@DEMO=1 $(GO) test -tags acceptance ./conformance/acceptance -run TestDemo -count=1 -v

# Long fuzzing: each target for three minutes.
soak:
	@set -e; for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep ^Fuzz || true); do \
	    echo "$$p $$f"; $(GO) test $$p -run '^$$' -fuzz "^$$f\$$" -fuzztime 3m; done; done
