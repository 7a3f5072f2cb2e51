package symbolize

import (
	"fmt"
	"testing"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/symtab"
)

// listLocator locates lists of generated code.
type listLocator struct{ tableMap }

// ByPath implements decode.Locator.
func (l listLocator) ByPath(path string) []decode.Candidate {
	if l.tableMap[path] == nil {
		return nil
	}
	return []decode.Candidate{{Path: path, Origin: "path"}}
}

// ByBuildID implements decode.Locator.
func (l listLocator) ByBuildID(path, _ string) (list []decode.Candidate) {
	for n := range int64(12) {
		if path := decode.PerfMap(n); l.tableMap[path] != nil {
			list = append(list, decode.Candidate{Path: path, Origin: "path"})
		}
	}
	return list
}

// A process in a PID namespace names its list by its PID there. The list is used if it is the only
// one that fits the process's generated code.
func TestListOfNamespace(t *testing.T) {
	list := func(name string, address uint64) *symtab.Table {
		return symtab.ReadPerfMap(fmt.Appendf(nil, "%x 100 %s\n", address, name)).Finish()
	}
	const first, second, elsewhere = 0x7f0000001000, 0x7f0000009000, 0x7f0000009f80 // 0x80 bytes before its end
	for _, c := range []struct {
		name  string
		files tableMap
		want  string // of the processes 100 and 101
		info  int
	}{
		{"by the number inside", tableMap{decode.PerfMap(1): list("f", first), decode.PerfMap(2): list("g", second)}, "perf-100.map f, perf-101.map g", 2},
		{"its own first", tableMap{decode.PerfMap(100): list("own", first), decode.PerfMap(1): list("f", first)}, "perf-100.map own, <Unknown> <Unknown> " + ReasonGenerated, 0},
		{"two fit", tableMap{decode.PerfMap(1): list("f", first), decode.PerfMap(2): list("g", first)}, "<Unknown> <Unknown> " + ReasonGenerated + ", <Unknown> <Unknown> " + ReasonGenerated, 0},
		{"none fits", tableMap{decode.PerfMap(1): list("f", elsewhere)}, "<Unknown> <Unknown> " + ReasonGenerated + ", <Unknown> <Unknown> " + ReasonGenerated, 0},
		{"another process's", tableMap{decode.PerfMap(7): list("f", first)}, "<Unknown> <Unknown> " + ReasonGenerated + ", <Unknown> <Unknown> " + ReasonGenerated, 0},
	} {
		rec := &decode.Recording{PageSize: 0x1000}
		r := New(rec, listLocator{c.files}, c.files)
		for pid, address := range map[int64]uint64{100: first, 101: second, 7: 0x1000} {
			m := decode.MapEvent{Address: address, Size: 0x1000, Modes: 5}
			m.SetGenerated(pid)
			rec.Processes = append(rec.Processes, &decode.Process{PID: pid, Mappings: []decode.MapEvent{m}})
		}
		got := map[int64]string{}
		for _, p := range rec.Processes {
			got[p.PID] = at(r.Process(p, "map"), p.Mappings[0].Address+0x10, 0)
		}
		r.Finish()
		info := 0
		for _, p := range rec.Problems.Problems {
			if p.Reason == "inferred-list" {
				info++
			}
		}
		if got := got[100] + ", " + got[101]; got != c.want || info != c.info {
			t.Errorf("%s: %s, %d remarks; want %s, %d", c.name, got, info, c.want, c.info)
		}
	}
}
