package perf

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"stackmill/stages/decode"
)

// symbol is a load object and a function in it, `?` for one without a symbol.
type symbol struct{ Object, Function string }

// printed is a sample as `perf script` prints it.
type printed struct {
	event  string
	period int64
	chain  []symbol // leaf first, without inlined functions
}

// A sample as `perf script` prints it, and the frame at the end of its line or
// on a line of its own.
var (
	scriptSample = regexp.MustCompile(`\s(\d+)\s+([a-zA-Z][\w:./-]*):(\s.*|)$`)
	scriptFrame  = regexp.MustCompile(`^\s*(?:[0-9a-f]+\s+)?([0-9a-f]+)\s+(.*)\s+\(([^()]*)\)$`)
	scriptData   = regexp.MustCompile(`^.*\)\s+([0-9a-f]{6,}\s)`) // the data address and its place
	scriptOffset = regexp.MustCompile(`\+0x[0-9a-f]+$`)
	compilerMark = regexp.MustCompile(`\.(constprop|isra|part|cold)(\.\d+)*$`)
)

// open opens a golden text, which may be compressed.
func open(t *testing.T, name, file string) io.Reader {
	t.Helper()
	path := filepath.Join(folder, "golden", name, file)
	if b, err := os.ReadFile(path); err == nil {
		return bytes.NewReader(b)
	}
	b, err := os.ReadFile(path + ".gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// script reads what perf says of each sample.
func script(t *testing.T, name string) []printed {
	t.Helper()
	var samples []printed
	header := false // the last line was that of the sample: a frame in it is a data address if a chain follows
	for lines := bufio.NewScanner(open(t, name, "script.txt")); lines.Scan(); {
		text := lines.Text()
		var frame []string
		if strings.HasPrefix(text, "\t") {
			frame = scriptFrame.FindStringSubmatch(text)
		} else if m := scriptSample.FindStringSubmatch(text); m != nil {
			period, _ := strconv.ParseInt(m[1], 10, 64)
			samples = append(samples, printed{event: m[2], period: period})
			frame = scriptFrame.FindStringSubmatch(scriptData.ReplaceAllString(m[3], "$1"))
		}
		first := header
		if header = !strings.HasPrefix(text, "\t"); frame != nil && frame[3] != "inlined" {
			last := &samples[len(samples)-1]
			if first && !header {
				last.chain = nil
			}
			last.chain = append(last.chain, compared(frame[3], scriptOffset.ReplaceAllString(frame[2], "")))
		}
	}
	return samples
}

// compared is what is compared of a frame. What perf does not name: code in the
// PLT (S22), signal trampolines of stripped libraries (S24) and code made at run
// time that nothing announces (S15).
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

// body matches the names of bodies (S11), which end with the compiler's.
var body = regexp.MustCompile(` -- OMP .* \[(.*)\]$`)

// bare is a function's name as perf shows it: without parameters and marks.
func bare(name string) string {
	if m := body.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	name, _, _ = strings.Cut(name, " [clone ")
	name = strings.TrimSuffix(name, " const")
	if !strings.HasSuffix(name, ")") {
		return name
	}
	depth := 0
	for i := len(name) - 1; i >= 0; i-- {
		switch name[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				return name[:i]
			}
		}
	}
	return name
}
