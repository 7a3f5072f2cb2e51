package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"stackmill/cmd/acceptance/perftext"
	"stackmill/stages/decode"
)

const unknown = "[unknown]"

// agree reports whether perf's name of a frame is a name of the function.
func agree(p perftext.Frame, f *function) bool {
	switch symbol := unversioned(p.Symbol); {
	case symbol == unknown:
		return f.kind == "unknown"
	case f.is(symbol), f.is(p.Symbol), f.name == symbol:
		return true
	}
	return perftext.Bare(f.perf) == p.Symbol // a demangled name
}

// unversioned removes the version from a symbol, as in name@VERSION.
func unversioned(symbol string) string {
	if bare, version, ok := strings.Cut(symbol, "@"); ok && version != "plt" {
		return bare
	}
	return symbol
}

// otherAlias reports whether perf shows another alias of a function than the store predicts.
func otherAlias(p perftext.Frame, f *function) bool {
	if len(f.aliases) < 2 {
		return false
	}
	symbol := unversioned(p.Symbol)
	shown := perftext.Bare(demangle.Filter(symbol, demangle.NoParams))
	return f.perf != symbol && perftext.Bare(f.perf) != shown
}

// naming returns the rule by which perf's name of a frame differs from the store's, although both
// are at the same place; "" for none. recorded is the recorded word, and f the frame that rules
// made from it.
func (c *comparison) naming(p perftext.Frame, recorded rawFrame, f frame) string {
	o := c.files.object(f.object)
	switch {
	case recorded.offset != f.offset && (p.Offset == 0 && p.Symbol != unknown || recorded.offset >= f.function.end):
		return "S21" // perf names the code after a call that ends its function
	case filepath.Base(p.Object) != filepath.Base(recorded.object) && recorded.offset == f.offset && o != nil && o.afterSystemCall(f.offset):
		return "S1" // the sample was taken during exec
	case f.function.kind == "unknown" && c.inData(p, recorded.word):
		return "S15"
	case decode.IsPerfMap("/tmp/" + filepath.Base(p.Object)):
		return c.generated(p, recorded, f.function)
	case o == nil: // perf has no file either
		if p.Symbol == unknown && f.function.kind == "static" && filepath.IsAbs(f.object) {
			return "S6"
		}
	case f.function.kind == "plt":
		if o.inTable(f.offset) {
			return "S22"
		}
	case f.function.name == "__restore_rt" && !o.covers(f.offset, typed):
		return "S24"
	case f.function.kind == "static":
		if !o.covers(f.offset, typed) && (p.Symbol == unknown || o.stretches(p.Symbol, f.offset)) {
			return "S6"
		}
		if o.written.After(c.content.recorded) {
			return "S2" // the file has changed since the recording
		}
	case p.Symbol == unknown:
		own := func(s symbol) bool { return !s.peer && f.function.is(s.Name) }
		if o.covers(f.offset, own) || !typedOnly(o, f) {
			return "S3" // perf ignores a table or a symbol without type or size
		}
	default:
		ours := func(s symbol) bool { return f.function.is(s.Name) }
		if o.stretches(p.Symbol, f.offset) && o.covers(f.offset, ours) {
			return "S3"
		}
	}
	return ""
}

// typedOnly reports whether all symbols of a frame's function are marked as functions and have a
// size. perf has no reason to ignore such symbols.
func typedOnly(o *object, f frame) bool {
	for _, s := range o.symbols {
		if f.function.is(s.Name) && (!typed(s) || s.Size == 0) {
			return false
		}
	}
	return true
}

// generated returns S13 if the list of generated code has both names for the address: the address
// was used more than once.
func (c *comparison) generated(p perftext.Frame, recorded rawFrame, f *function) string {
	names := c.perfMap(p.Object).at(recorded.word)
	if slices.Contains(names, p.Symbol) && slices.Contains(names, f.name) {
		return "S13"
	}
	return ""
}

// perfMap is a process's list of generated code (perf-PID.map).
type perfMap []struct {
	from, to uint64
	name     string
}

func (c *comparison) perfMap(path string) perfMap {
	m, ok := c.maps[path]
	if ok {
		return m
	}
	text, _ := os.ReadFile(c.files.find(path)) // without the file, no rule applies
	for line := range strings.Lines(string(text)) {
		words := strings.SplitN(strings.TrimRight(line, "\n"), " ", 3)
		if len(words) < 3 {
			continue
		}
		from, err1 := strconv.ParseUint(words[0], 16, 64)
		size, err2 := strconv.ParseUint(words[1], 16, 64)
		if err1 == nil && err2 == nil {
			m = append(m, struct {
				from, to uint64
				name     string
			}{from, from + size, words[2]})
		}
	}
	c.maps[path] = m
	return m
}

// at returns the names of all code that was ever at an address.
func (m perfMap) at(address uint64) (names []string) {
	for _, e := range m {
		if e.from <= address && address < e.to {
			names = append(names, e.name)
		}
	}
	return names
}
