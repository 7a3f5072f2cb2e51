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

// maxListed bounds the functions of a list, which take some 30 times the memory of
// the shortest lines. Large Java programs have some 200,000 functions, the kernel has
// 300,000 symbols.
var maxListed = 2 << 20

func tooManyNote() Note {
	return Note{Offset: -1, Damage: true, Text: "more than " + strconv.Itoa(maxListed) + " functions: the rest are left out"}
}

// ReadPerfMap reads a run-time compiler's list of functions, with lines of start, size and
// name (perf-data 18.1). Offsets are addresses. Where functions overlap, the one listed later
// was compiled later, and owns the code.
func ReadPerfMap(text []byte) *Draft {
	t := &Draft{Table: Table{Modules: []Module{{Name: Unknown, ShortPath: Unknown}}}}
	var list []Function // in order of the file
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

// word cuts off the first word, and trims blanks around both parts.
func word(s string) (first, rest string) {
	s = strings.Trim(s, " \t")
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		return s[:i], strings.TrimLeft(s[i:], " \t")
	}
	return s, ""
}

// hexadecimal reads a hexadecimal number, which some compilers write with a prefix.
func hexadecimal(s string) (uint64, error) {
	if len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' {
		s = s[2:]
	}
	return strconv.ParseUint(s, 16, 64)
}

// removeOverlaps cuts out the code of functions that later ones cover, and sorts the rest. A
// function may remain in two parts.
func removeOverlaps(list []Function) []Function {
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
	var open maxHeap // covering functions, and some that have ended
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

// maxHeap is a heap of indexes, the highest first.
type maxHeap []int

func (h maxHeap) Len() int           { return len(h) }
func (h maxHeap) Less(i, j int) bool { return h[i] > h[j] }
func (h maxHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *maxHeap) Push(x any)        { *h = append(*h, x.(int)) }

// Pop implements heap.Interface.
func (h *maxHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
