package pprof

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"stackmill/internal/lazyregexp"
)

// legacyTexts are the first bytes of the text formats that pprof had before profile.proto.
var legacyTexts = [][]byte{
	[]byte("heap profile: "), []byte("goroutine profile: total "), []byte("threadcreate profile: total "),
	[]byte("--- contention"), []byte("--- mutex"), []byte("--- heap"), []byte("--- threadz"), []byte("--- growth"), []byte("--- Memory map: ---"), []byte(symbolSection),
}

// fromLegacy converts a profile in an older format to profile.proto. Only Java's profiles, the text
// of Go's runtime (`debug=1`), and the output of gperftools' `pprof --raw` have function names.
func fromLegacy(content []byte) ([]byte, error) {
	names := symbolTable{}
	content, err := names.section(content)
	if err != nil {
		return nil, err
	}
	p, err := profile.ParseData(content)
	if err != nil {
		return nil, fmt.Errorf("it is in a format that pprof had before profile.proto: %w", err)
	}
	names.comments(content)
	names.apply(p)
	var out bytes.Buffer
	if err := p.WriteUncompressed(&out); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// symbolTable has the functions at addresses, the innermost first.
type symbolTable map[uint64][]symbol

type symbol struct {
	name, file string
	line       int64
}

// symbolSection is the first line of the output of `pprof --raw`: symbols by address, then a
// profile.
const symbolSection = "--- symbol"

var (
	sectionLine = lazyregexp.New(`^0x([0-9a-fA-F]+)\s+(.+)$`)
	commentLine = lazyregexp.New(`^#\t0x([0-9a-f]+)\t(.+?)(?:\+0x[0-9a-f]+)?\t\s*(.+):(\d+)$`)
)

// section reads the symbols before a profile, and returns the content after them.
func (s symbolTable) section(content []byte) ([]byte, error) {
	if !bytes.HasPrefix(content, []byte(symbolSection)) {
		return content, nil
	}
	for len(content) > 0 {
		var line []byte
		line, content, _ = bytes.Cut(content, []byte("\n"))
		text := strings.TrimSpace(string(line))
		if text == "---" {
			if bytes.HasPrefix(content, []byte("--- profile")) { // only binary profiles have this line
				_, content, _ = bytes.Cut(content, []byte("\n"))
			}
			return content, nil
		}
		if m := sectionLine().FindStringSubmatch(text); m != nil {
			address, err := strconv.ParseUint(m[1], 16, 64)
			if err != nil {
				return nil, fmt.Errorf("the address of a symbol: %w", err)
			}
			s[address] = inlinedAt(m[2])
		}
	}
	return nil, errors.New("the file ends within its list of symbols")
}

// inlinedAt splits a list of inlined functions, which are separated by two dashes.
func inlinedAt(list string) (levels []symbol) {
	const decrement, marked = "operator--", "operator\x00"
	for name := range strings.SplitSeq(strings.ReplaceAll(list, decrement, marked), "--") {
		levels = append(levels, symbol{name: strings.ReplaceAll(name, marked, decrement)})
	}
	return levels
}

// comments reads the symbols that Go's runtime writes below each stack. Each inlined function has a
// line of its own.
func (s symbolTable) comments(content []byte) {
	found := symbolTable{}
	take := func() {
		for address, levels := range found {
			if s[address] == nil {
				s[address] = levels
			}
		}
		clear(found)
	}
	for line := range bytes.Lines(content) {
		if len(line) == 0 || line[0] != '#' {
			take()
			continue
		}
		if m := commentLine().FindStringSubmatch(strings.TrimRight(string(line), "\r\n")); m != nil {
			address, err := strconv.ParseUint(m[1], 16, 64)
			number, err2 := strconv.ParseInt(m[4], 10, 64)
			if err == nil && err2 == nil {
				found[address] = append(found[address], symbol{m[2], m[3], number})
			}
		}
	}
	take()
}

// apply gives names to the locations of a profile. A caller's location has the address of the call,
// but the symbol table may have the return address, which is one higher.
func (s symbolTable) apply(p *profile.Profile) {
	functions := map[symbol]*profile.Function{}
	for _, l := range p.Location {
		levels := s[l.Address]
		if levels == nil {
			levels = s[l.Address+1]
		}
		if len(l.Line) > 0 {
			continue
		}
		for _, level := range levels {
			key := symbol{name: level.name, file: level.file}
			f := functions[key]
			if f == nil {
				f = &profile.Function{ID: uint64(len(p.Function) + 1), Name: level.name, SystemName: level.name, Filename: level.file}
				functions[key], p.Function = f, append(p.Function, f)
			}
			l.Line = append(l.Line, profile.Line{Function: f, Line: level.line})
		}
	}
}

// isLegacy reports whether a file begins like a profile in an older format.
func isLegacy(head []byte) bool {
	if slices.ContainsFunc(legacyTexts, func(t []byte) bool { return bytes.HasPrefix(head, t) }) {
		return true
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		if isLegacyCPU(head, 8, order.Uint64) || isLegacyCPU(head, 4, func(b []byte) uint64 { return uint64(order.Uint32(b)) }) {
			return true
		}
	}
	return false
}

// isLegacyCPU reports whether a file begins with the header of gperftools' CPU profiles: 0, the
// number of header words that follow, the version (1 for Java), the period, 0.
func isLegacyCPU(head []byte, size int, word func([]byte) uint64) bool {
	if len(head) < 5*size {
		return false
	}
	at := func(n int) uint64 { return word(head[n*size:]) }
	return at(0) == 0 && at(1) == 3 && at(2) <= 1 && at(3) > 0 && at(3) < 1e9 && at(4) == 0
}
