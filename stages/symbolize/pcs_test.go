package symbolize

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
)

// PCs with the same number have the same location, and so do the calls before them, although
// mappings come and go, split each other, and are looked up in any order of time and process.
func TestPCs(t *testing.T) {
	const mappings, first, page = 24, 0x10000, 0x800
	d := tableMap{}
	random := rand.New(rand.NewPCG(1, 2))
	var events []decode.MapEvent
	for i := range mappings {
		path := fmt.Sprintf("/lib/%d", i%7)
		d[path] = tableOf(path, symtab.Function{Name: "f"}, symtab.Function{Name: "g"})
		e := decode.MapEvent{Path: path, Time: int64(i), Address: first + page*random.Uint64N(64), FileOffset: textSize, Size: textSize, Modes: 5}
		if i%5 == 0 {
			e.Code = &decode.Code{Function: path}
		}
		events = append(events, e)
	}
	r, _ := recording(d)
	numbers, meanings := NewPCs(), map[PCNo][2]program.LocationNo{}
	for _, known := range [][]decode.MapEvent{events, events, events[mappings/2:]} {
		pr := process(r, known...)
		of := numbers.Process(pr, 1000)
		for range 20000 {
			pc, at := first+random.Uint64N(64*page), random.Int64N(mappings)
			if random.IntN(2) == 0 {
				pc = pc / page * page // where mappings begin
			}
			own, before := pr.Resolve(pc, at), pr.Resolve(pc-1, at)
			n, life := of.Number(pc, at)
			if want := (program.Life{From: own.From, Until: own.Until}); life != want {
				t.Fatalf("%#x at %d: %+v, want %+v", pc, at, life, want)
			}
			if m, ok := meanings[n]; ok && m[0] != own.Location {
				t.Fatalf("%#x at %d has number %d and means %d, as well as %d", pc, at, n, own.Location, m[0])
			} else if !ok {
				meanings[n] = [2]program.LocationNo{own.Location, program.None}
			}
			n, life = of.Caller(pc, at)
			if want := (program.Life{From: own.From, Until: own.Until}).Intersect(program.Life{From: before.From, Until: before.Until}); life != want {
				t.Fatalf("%#x and before at %d: %+v, want %+v", pc, at, life, want)
			}
			want := [2]program.LocationNo{own.Location, before.Location}
			if m, ok := meanings[n]; ok && (m[0] != want[0] || m[1] != program.None && m[1] != want[1]) {
				t.Fatalf("%#x and before at %d have number %d and mean %d, as well as %d", pc, at, n, want, m)
			}
			meanings[n] = want
		}
	}
	if named := len(r.Program.Functions); named < 7 {
		t.Errorf("only %d functions were found", named)
	}
}

// Processes that map a file at the same address share its PCs. At other addresses, and if nothing
// is known of the file, each process has its own PCs.
func TestSharedPCs(t *testing.T) {
	r, _ := recording(tableMap{"/lib/a": tableOf("/lib/a", symtab.Function{Name: "f"})})
	numbers := NewPCs()
	number := func(pc uint64, path string, address uint64) PCNo {
		pr := process(r, decode.MapEvent{Path: path, Address: address, FileOffset: textSize, Size: textSize, Modes: 5})
		n, _ := numbers.Process(pr, 1).Caller(pc, 0)
		return n
	}
	for _, tt := range []struct {
		path, other        string
		address, elsewhere uint64
		want               bool
	}{
		{"/lib/a", "/lib/a", 0x10000, 0x10000, true},
		{"/lib/a", "/lib/a", 0x10000, 0x10800, false},
		{"/lib/gone", "/lib/gone", 0x10000, 0x10000, false},
		{"/lib/a", "/lib/gone", 0x10000, 0x10000, false},
	} {
		pc := tt.elsewhere + 0x10
		if a, b := number(pc, tt.path, tt.address), number(pc, tt.other, tt.elsewhere); (a == b) != tt.want {
			t.Errorf("%+v: %d and %d", tt, a, b)
		}
	}
}
