package perfdata

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// An event without a name in the recording gets the name that perf gives it. names.tsv has the
// output of perf evlist for recordings with many modifiers, after their features were cut off
// (names.sh).
func TestNames(t *testing.T) {
	table, err := os.ReadFile(filepath.Join("testdata", "names.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	number := func(text string) uint64 {
		n, err := strconv.ParseUint(text, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for line := range strings.Lines(string(table)) {
		c := strings.Split(strings.TrimSpace(line), "\t")
		a := attr{typ: uint32(number(c[0])), config: number(c[1]), flags: number(c[2]), bpType: uint32(number(c[3])), bpAddr: number(c[4])}
		if got := a.defaultName(false); got != c[5] {
			t.Errorf("flags %#x: %s, want %s", a.flags, got, c[5])
		}
		producer := a.flags // as a big-endian recording has them: the bits of precise_ip are swapped
		if precise := a.precise(false); precise == 1 || precise == 2 {
			producer ^= 3 << preciseShift
		}
		if a.flags = producer; a.defaultName(true) != c[5] {
			t.Errorf("big-endian, flags %#x: %s, want %s", a.flags, a.defaultName(true), c[5])
		}
	}
}

// The names of events that none of our machines has are also those of perf. Where perf has no name,
// different events have different names.
func TestNamesOfHardware(t *testing.T) {
	const userOnly = 1<<5 | 1<<6 | 1<<20
	for _, tt := range []struct {
		attr attr
		want string
	}{
		{attr{typ: typeHardware, config: 0, flags: 1 << 20}, "cycles"},
		{attr{typ: typeHardware, config: 1, flags: userOnly | 2<<preciseShift}, "instructions:uppH"},
		{attr{typ: typeCache, config: 0x10000, flags: 1 << 20}, "L1-dcache-load-misses"},
		{attr{typ: typeCache, config: 0x00103, flags: 1 << 20}, "dTLB-stores"},
		{attr{typ: typeCache, config: 0x10207, flags: 1 << 20}, "event-3-0x10207"},
		{attr{typ: typeRaw, config: 0x1a8, flags: userOnly}, "raw 0x1a8:uH"},
		{attr{typ: typeTracepoint, config: 0x123, flags: 1 << 20}, "event-2-0x123"},
		{attr{typ: 8, config: 0x5, flags: 1<<4 | 1<<6}, "event-8-0x5:k"},
	} {
		if got := tt.attr.defaultName(false); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
}

// If a recording's features are cut off, entirely or after the first events, its events
// are named by their attributes.
func TestNamesWithoutFeatures(t *testing.T) {
	b := &builder{order: binary.LittleEndian, flags: 1<<5 | 1<<6 | 1<<20}
	b.mmap(10, 0, 0x10000, "/bin/sh")
	b.sample(10, 1000, user, 0x10010, 0x10100)
	names := func(content []byte) (list []string) {
		path := filepath.Join(t.TempDir(), "perf.data")
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		rec := New().Open(t.Context(), path)
		defer rec.Close()
		for _, c := range rec.Processes[0].Counters {
			list = append(list, c.Name)
		}
		return list
	}
	if got := names(b.file()); len(got) != 1 || got[0] != "cpu-clock:uH" {
		t.Errorf("without features: %v", got)
	}
	b.feature(featureEventDesc, 1, 0, 0, "cpu-clock:u")
	named := b.file()
	if got := names(named); len(got) != 1 || got[0] != "cpu-clock:u" {
		t.Errorf("named: %v", got)
	}
	if got := names(named[:len(named)-8]); len(got) != 1 || got[0] != "cpu-clock:uH" {
		t.Errorf("the names are cut: %v", got)
	}
}

// An event that was requested twice becomes two metrics, each with its own samples.
func TestEventsOfOneName(t *testing.T) {
	r := &reader{recordParser: recordParser{events: []*event{{name: "cpu-clock"}, {name: "cpu-clock"}}}}
	line := &timeline{r: r}
	line.makeCounters()
	if c := line.counters; len(c) != 2 || c[0].Name != "cpu-clock" || c[1].Name != "cpu-clock_2" || c[0].Tag == c[1].Tag {
		t.Errorf("%+v", c)
	}
}
