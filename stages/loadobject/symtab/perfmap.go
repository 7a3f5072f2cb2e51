package symtab

import (
	"bytes"
	"slices"
	"stackmill/stages/loadobject/funcinfo"
	"strconv"
	"strings"
)

// maxListed bounds the number of functions in a list, because a short line takes some 30 times its
// length in memory. Large Java programs have some 200,000 functions, the kernel 300,000 symbols.
var maxListed = 2 << 20

func tooManyNote() Note {
	return Note{Offset: -1, Damage: true, Text: "more than " + strconv.Itoa(maxListed) + " functions: the rest are left out"}
}

// ReadPerfMap reads the list of functions that a run-time compiler wrote; a line has start, size
// and name (perf-data 18.1). Offsets are addresses. Where functions overlap, the code belongs to
// the one listed last, since it was compiled last.
func ReadPerfMap(text []byte) *Draft {
	t := &Draft{Table: Table{Modules: []Module{{Name: Unknown, ShortPath: Unknown}}}}
	var list []Function // in the order of the lines
	bad := 0
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		if f, ok := perfMapFunction(line); ok {
			if len(list) == maxListed {
				t.Notes = append(t.Notes, tooManyNote())
				break
			}
			list = append(list, f)
		} else if len(line) > 0 {
			bad++
		}
	}
	if bad > 0 {
		t.Notes = append(t.Notes, Note{Offset: -1, Text: strconv.Itoa(bad) + " lines are not of the form START SIZE NAME"})
	}
	t.Functions = removeOverlaps(list)
	return t
}

func perfMapFunction(line []byte) (f Function, ok bool) {
	start, rest := word(string(line))
	size, name := word(rest)
	from, err1 := hexadecimal(start)
	n, err2 := hexadecimal(size)
	if err1 != nil || err2 != nil || n == 0 || name == "" || from+n < from {
		return f, false
	}
	name = strings.ToValidUTF8(name, "\uFFFD")
	return Function{Offset: from, Address: from, Size: n, Linkage: name, Aliases: name, Name: name, Kind: funcinfo.Dynamic, Scope: funcinfo.ModuleScope}, true
}

// word splits a text at its first blanks, and trims blanks around both parts.
func word(s string) (first, rest string) {
	s = strings.Trim(s, " \t")
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		return s[:i], strings.TrimLeft(s[i:], " \t")
	}
	return s, ""
}

// hexadecimal reads a hexadecimal number. Some compilers write it with the prefix 0x.
func hexadecimal(s string) (uint64, error) {
	if len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' {
		s = s[2:]
	}
	return strconv.ParseUint(s, 16, 64)
}

// removeOverlaps cuts from each function the code that later functions in the list cover. It
// returns the remaining parts, sorted; a function may have several.
func removeOverlaps(list []Function) (out []Function) {
	edges := make([]uint64, 0, 2*len(list))
	for _, f := range list {
		edges = append(edges, f.Offset, f.Offset+f.Size)
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	owners, next := make([]int, len(edges)), make([]int, len(edges)) // by the edge at which a part begins
	for i := range next {
		owners[i], next[i] = -1, i
	}
	free := func(i int) int { // the first part from i on without an owner
		for next[i] != i {
			next[i] = next[next[i]]
			i = next[i]
		}
		return i
	}
	for n, f := range slices.Backward(list) {
		first, _ := slices.BinarySearch(edges, f.Offset)
		for i := free(first); edges[i] < f.Offset+f.Size; i = free(i) {
			owners[i], next[i] = n, i+1
		}
	}
	for i, n := range owners {
		if n < 0 {
			continue
		}
		f := list[n]
		at, size := edges[i], edges[i+1]-edges[i]
		if last := len(out) - 1; last >= 0 && out[last].Address == f.Address && out[last].Linkage == f.Linkage && out[last].Offset+out[last].Size == at {
			out[last].Size += size
			continue
		}
		f.Offset, f.Size = at, size
		out = append(out, f)
	}
	return out
}
