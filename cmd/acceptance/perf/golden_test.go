package perf

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"stackmill/cmd/acceptance/perftext"
	"stackmill/stages/decode"
)

// symbol is a load object and a function in it, `?` if it has no symbol.
type symbol struct{ Object, Function string }

// printed is a sample as `perf script` prints it.
type printed struct {
	event  string
	period int64
	chain  []symbol // leaf first, without inlined functions
}

var compilerMark = regexp.MustCompile(`\.(constprop|isra|part|cold)(\.\d+)*$`)

// open opens a golden text.
func open(t *testing.T, name, file string) io.Reader {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(folder, "golden", name, file))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(b)
}

// script reads the samples that perf printed.
func script(t *testing.T, name string) []printed {
	t.Helper()
	read, err := perftext.Script(open(t, name, "script.txt"))
	if err != nil {
		t.Fatal(err)
	}
	samples := make([]printed, len(read))
	for i, s := range read {
		samples[i] = printed{event: s.Event, period: s.Period}
		for _, f := range s.Chain {
			samples[i].chain = append(samples[i].chain, compared(f.Object, f.Symbol))
		}
	}
	return samples
}

// compared returns the compared part of a frame, without names that perf lacks: code in the PLT
// (S22), signal trampolines of stripped libraries (S24) and generated code that nothing announces
// (S15).
func compared(object, function string) symbol {
	if function == "[unknown]" || strings.HasSuffix(function, "@plt") || function == "_init" {
		function = "?"
	}
	object = filepath.Base(object)
	if function == "?" && (object == "[unknown]" || decode.IsPerfMap("/tmp/"+object)) {
		object = "<Unknown>"
	}
	return symbol{object, compilerMark.ReplaceAllString(function, "")}
}
