package perfdata

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"stackmill/stages/decode"
)

// While a program is being executed, samples still belong to the old program: its mappings are
// valid until the mapping of the vdso completes the new ones. If the vdso is never mapped, they end
// with the execution's start.
func TestExecution(t *testing.T) {
	mapped := func(time, address uint64, path string) sideband {
		b := binary.LittleEndian.AppendUint64(nil, 1|1<<32) // pid and tid
		for _, v := range []uint64{address, 0x1000, 0} {
			b = binary.LittleEndian.AppendUint64(b, v)
		}
		return sideband{typ: recordMmap, misc: miscUser, time: time, body: append(b, path+"\x00"...)}
	}
	exec := sideband{typ: recordComm, misc: miscExec, time: 20, body: append(binary.LittleEndian.AppendUint64(nil, 1|1<<32), "new\x00"...)}
	for _, tt := range []struct {
		name         string
		records      []sideband
		ended, began int64 // in ns from the first record's time
	}{
		{"complete", []sideband{mapped(10, 0x4000, "/old"), exec, mapped(30, 0x4000, "/new"), mapped(40, 0x9000, "[vdso]"), mapped(50, 0x7000, "/library")}, 30, 30},
		{"without a vdso", []sideband{mapped(10, 0x4000, "/old"), exec, mapped(30, 0x4000, "/new")}, 10, 20},
		{"failed", []sideband{mapped(10, 0x4000, "/old"), exec, mapped(25, 0x8000, "/other"), exec, mapped(30, 0x4000, "/new"), mapped(40, 0x9000, "[vdso]")}, 10, 30},
	} {
		r := &reader{recordParser: recordParser{rec: &decode.Recording{}}, found: recordIndex{sidebands: tt.records}}
		ended, began := int64(-1), int64(-1)
		for _, m := range r.timeline().current[1].Mappings {
			switch {
			case m.Unmap && m.Address == 0x4000:
				ended = m.Time
			case m.Path == "/new":
				began = m.Time
			}
		}
		if ended != tt.ended || began != tt.began {
			t.Errorf("%s: the old program ends at %d and the new one begins at %d, want %d and %d", tt.name, ended, began, tt.ended, tt.began)
		}
	}
}

// A forked process inherits only the mappings that are still visible, not all that its parent ever
// had.
func TestVisibleMappings(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var live []decode.MapEvent
		owner := map[uint64]int64{}
		for n := range r.Int64N(40) {
			m := decode.MapEvent{FileOffset: uint64(n), Address: r.Uint64N(30), Size: 1 + r.Uint64N(12)}
			for a := range m.Size {
				owner[m.Address+a] = n
			}
			live = append(live, m)
		}
		want := map[int64]bool{}
		for _, n := range owner {
			want[n] = true
		}
		got := visible(live)
		if !slices.IsSortedFunc(got, func(a, b decode.MapEvent) int { return int(a.FileOffset) - int(b.FileOffset) }) {
			t.Fatal("not in their order")
		}
		for _, m := range got {
			delete(want, int64(m.FileOffset))
		}
		seen := map[uint64]bool{}
		coveredRanges := 0
		for _, m := range slices.Backward(got) {
			news := false
			for a := range m.Size {
				news = news || !seen[m.Address+a]
				seen[m.Address+a] = true
			}
			if !news {
				coveredRanges++
			}
		}
		if len(want) > 0 || coveredRanges > 0 {
			t.Fatalf("%d that are seen are missing, %d that are hidden are not: %v", len(want), coveredRanges, live)
		}
	}
}
