package data

import (
	"encoding/binary"
	"math/bits"
	"os"
	"path/filepath"
	"testing"
)

// counters are recordings whose events are rewritten as those of a hardware counter, with PCs of
// different precision (S27): few machines can record such counters. Events of counters that skid
// have no data addresses. If an instruction copies bit fields together with the member before them,
// its data object is the aggregate.
var counters = []struct {
	name, from string
	precise    uint64
	minimum    float64 // minimum share of accesses with the right object
}{
	{"skids.data", "watch_gcc_O2", 0, 0.9},
	{"skids_unoptimized.data", "watch_gcc_O0", 0, 0.97},
	{"behind.data", "watch_gcc_O3", 1, 0.97},
	{"exact.data", "records_gcc_O2", 2, 0.95},
	{"exact_again.data", "chase_clang_O2", 3, 0.95},
}

// Offsets in a perf.data file (perf-data 1, 4).
const (
	attrEntryAt  = 16 // size of an entry in the list of attributes
	attrsAt      = 24 // offset of the list; the list's size follows
	dataAt       = 40 // offset of the records; their size follows
	sampleTypeAt = 24 // offset in an attribute
	flagsAt      = 40
	preciseShift = 15
	typeRaw      = 4
	recordSample = 9
	beforeAddr   = 1<<16 | 1<<0 | 1<<1 | 1<<2 // fields of samples before the data address: IDENTIFIER, IP, TID, TIME
)

// writeCounters writes the recordings of counters.
func writeCounters() error {
	if err := os.Mkdir(filepath.Join(folder, "counters"), 0o777); err != nil {
		return err
	}
	for _, c := range counters {
		b, err := os.ReadFile(filepath.Join(folder, "data", c.from+".data"))
		if err != nil {
			return err
		}
		u64 := func(at uint64) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
		for at := u64(attrsAt); at < u64(attrsAt)+u64(attrsAt+8); at += u64(attrEntryAt) {
			binary.LittleEndian.PutUint32(b[at:], typeRaw)
			binary.LittleEndian.PutUint64(b[at+flagsAt:], u64(at+flagsAt)&^(3<<preciseShift)|c.precise<<preciseShift)
		}
		addr := 8 + 8*uint64(bits.OnesCount64(u64(u64(attrsAt)+sampleTypeAt)&beforeAddr))
		for at := u64(dataAt); c.precise == 0 && at < u64(dataAt)+u64(dataAt+8); at += uint64(binary.LittleEndian.Uint16(b[at+6:])) {
			if binary.LittleEndian.Uint32(b[at:]) == recordSample {
				binary.LittleEndian.PutUint64(b[at+addr:], 0)
			}
		}
		if err := os.WriteFile(filepath.Join(folder, "counters", c.name), b, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// Nearly all accesses by counters have the right object, too: backtracking finds the instruction
// from a PC that skidded. None has a wrong object.
func TestCounters(t *testing.T) {
	for _, c := range counters {
		t.Run(c.name, func(t *testing.T) {
			got := compare(t, c.name, c.from, accesses(t, c.from+".data", c.from))
			t.Log(got)
			if r := rate(got.samples); r < c.minimum {
				t.Errorf("%.1f %% of the accesses have the right object", 100*r)
			}
			if got.samples[wrong] > 0 {
				t.Errorf("%d wrong", got.samples[wrong])
			}
		})
	}
}
