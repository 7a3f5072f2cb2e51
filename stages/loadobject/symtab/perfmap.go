package symtab

import (
	"bytes"
	"cmp"
	"container/heap"
	"slices"
	"stackmill/stages/loadobject/funcinfo"
	"strconv"
	"strings"
)

// maxListed bounds the functions of a list, which take some 30 times the space of
// the shortest lines. Large programs in Java have some 200,000, the kernel has
// 300,000 symbols.
var maxListed = 2 << 20

func tooMany() Note {
	return Note{Offset: -1, Damage: true, Text: "more than " + strconv.Itoa(maxListed) + " functions: the rest are left out"}
}

// ReadPerfMap makes a table of the functions that a run-time compiler lists in
// lines of start, size and name (perf-data 18.1). Offsets are addresses. Where
// functions overlap, the one listed later is the one compiled later.
func ReadPerfMap(text []byte) *Draft {
	t := &Draft{Table: Table{Modules: []Module{{Name: Unknown, ShortPath: Unknown}}}}
	var list []Function // in order of the file
	bad := 0
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		if f, ok := perfMapFunction(line); ok {
			if len(list) == maxListed {
				t.Notes = append(t.Notes, tooMany())
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
	t.Functions = uncovered(list)
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

// word cuts off the first word; both parts are without blanks around them.
func word(s string) (first, rest string) {
	s = strings.Trim(s, " \t")
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		return s[:i], strings.TrimLeft(s[i:], " \t")
	}
	return s, ""
}

// hexadecimal reads a number that some compilers write with a prefix.
func hexadecimal(s string) (uint64, error) {
	if len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' {
		s = s[2:]
	}
	return strconv.ParseUint(s, 16, 64)
}

// uncovered returns what is left of each function by those listed after it,
// sorted; a function may be left in two parts.
func uncovered(list []Function) []Function {
	type edge struct {
		at    uint64
		index int
		start bool
	}
	edges := make([]edge, 0, 2*len(list))
	for i, f := range list {
		edges = append(edges, edge{f.Offset, i, true}, edge{f.Offset + f.Size, i, false})
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.index, b.index)) })
	var out []Function
	var open latest // those that cover, and some that do not any more
	for i := 0; i < len(edges); {
		at := edges[i].at
		for ; i < len(edges) && edges[i].at == at; i++ {
			if edges[i].start {
				heap.Push(&open, edges[i].index)
			}
		}
		for len(open) > 0 && list[open[0]].Offset+list[open[0]].Size <= at {
			heap.Pop(&open)
		}
		if len(open) == 0 || i == len(edges) {
			continue
		}
		f := list[open[0]]
		f.Size = edges[i].at - at
		if last := len(out) - 1; last >= 0 && out[last].Address == f.Address && out[last].Linkage == f.Linkage && out[last].Offset+out[last].Size == at {
			out[last].Size += f.Size
			continue
		}
		f.Offset = at
		out = append(out, f)
	}
	return out
}

// latest is a heap of indexes, the highest first.
type latest []int

func (h latest) Len() int           { return len(h) }
func (h latest) Less(i, j int) bool { return h[i] > h[j] }
func (h latest) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *latest) Push(x any)        { *h = append(*h, x.(int)) }

// Pop is heap's.
func (h *latest) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
