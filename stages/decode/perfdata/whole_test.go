package perfdata

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	gocmp "github.com/google/go-cmp/cmp"

	"stackmill/acceptance/corpus"
	"stackmill/problem"
	"stackmill/schema"
	"stackmill/stages/decode"
)

// recordings unpacks those that testdata/README.md describes as whole.
func recordings(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := corpus.Unpack("../../../testdata/perf/whole.tar.gz", dir); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "whole")
}

// findings are what is found in a recording: its samples, and how severe the problems
// are that say that it is not whole.
type findings struct {
	samples  int64
	severity problem.Severity // of the worst, Info if there is none
	reasons  []string
}

func look(rec *decode.Recording) (found findings) {
	defer rec.Close()
	for _, p := range rec.Processes {
		found.samples += p.Records(schema.Perf)
	}
	for _, p := range rec.Problems.Problems {
		found.severity = max(found.severity, p.Severity)
		found.reasons = append(found.reasons, p.Reason)
	}
	return found
}

// borders lists where the records of a file begin and where the last ends.
func borders(content []byte) (list []int) {
	le := binary.LittleEndian
	at, end := 0, len(content)
	if bytes.HasPrefix(content, magicLittle) {
		if at = int(le.Uint64(content[8:])); at != pipeHeaderSize {
			at = int(le.Uint64(content[40:]))
			if size := int(le.Uint64(content[48:])); size > 0 {
				end = at + size
			}
		}
	}
	for at+recordHeader <= end {
		list = append(list, at)
		at += int(le.Uint16(content[at+6:]))
	}
	return append(list, at)
}

// cuts lists where a file is cut: at borders of records, near them, and all over it.
func cuts(content []byte) (list []int) {
	for _, at := range borders(content) {
		list = append(list, at, at-4, at+4, at+8)
	}
	for at := 0; at < len(content); at += 41 {
		list = append(list, at)
	}
	list = slices.DeleteFunc(list, func(at int) bool { return at < len(magicLittle) || at >= len(content) })
	slices.Sort(list)
	list = slices.Compact(list)
	const most, last = 200, 60 // they are dense at the end
	step := max(1, len(list)/most)
	var some []int
	for i, at := range list {
		if i%step == 0 || i >= len(list)-last {
			some = append(some, at)
		}
	}
	return some
}

// A recording in one file that lacks samples says so, wherever it is cut; where that
// cannot be told for certain, it says that it cannot.
func TestCuts(t *testing.T) {
	dir := recordings(t)
	for _, tt := range []struct {
		name    string
		doubted bool // even the whole recording does not show that it is whole
		open    bool // some of its ends cannot be told
	}{
		{name: "file"}, {name: "packed"}, {name: "killed", doubted: true},
		{name: "pipe"}, {name: "pipe_packed"}, {name: "pipe_injected"}, {name: "pipe_running", doubted: true, open: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join(dir, tt.name+".data"))
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "perf.data")
			cutAt := func(at int) findings {
				if err := os.WriteFile(path, content[:at], 0o644); err != nil {
					t.Fatal(err)
				}
				return look(New().Open(path))
			}
			whole := cutAt(len(content))
			if doubted := len(whole.reasons) > 0; whole.samples < 100 || doubted != tt.doubted {
				t.Fatalf("%+v", whole)
			}
			lost, silent := 0, 0
			for _, at := range cuts(content) {
				found := cutAt(at)
				if found.samples == whole.samples {
					continue
				}
				if lost++; found.severity == problem.Error {
					continue
				}
				if found.severity == problem.Info {
					silent++
				}
				if border := slices.Contains(borders(content), at); !tt.open || !border || len(found.reasons) == 0 {
					t.Errorf("cut at %d: %+v, of %d samples", at, found, whole.samples)
				}
			}
			if marks := bytes.Count(content, []byte{recordFinishedRound, 0, 0, 0, 0, 0, recordHeader, 0}); lost < 60 || silent > marks {
				t.Errorf("%d cuts are not errors, of %d that lose samples, with %d marks", silent, lost, marks)
			}
		})
	}
}

// Each file of a directory that is missing or cut inside a record is reported. Cuts
// between records are reported if they remove the last sample or the end of the program.
func TestCutDirectories(t *testing.T) {
	dir := recordings(t)
	for _, name := range []string{"directory", "directory_packed"} {
		whole := look(New().Open(filepath.Join(dir, name+".data")))
		if whole.samples < 100 || whole.reasons != nil {
			t.Fatalf("%s: %+v", name, whole)
		}
		for _, file := range []string{"data", "data.0", "data.1"} {
			path := filepath.Join(dir, name+".data", file)
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if found := look(New().Open(filepath.Join(dir, name+".data"))); found.severity != problem.Error {
				t.Errorf("%s without %s: %+v", name, file, found)
			}
			inside := borders(content)
			for _, at := range cuts(content) {
				if err := os.WriteFile(path, content[:at], 0o644); err != nil {
					t.Fatal(err)
				}
				found := look(New().Open(filepath.Join(dir, name+".data")))
				if found.samples < whole.samples && found.severity != problem.Error && !slices.Contains(inside, at) {
					t.Errorf("%s cut at %d: %+v, of %d samples", path, at, found, whole.samples)
				}
			}
			if err := os.WriteFile(path, content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The header of a file says when its last sample was: one that is not found is missed
// even if no record is damaged.
func TestMissingSamples(t *testing.T) {
	dir := recordings(t)
	content, err := os.ReadFile(filepath.Join(dir, "file.data"))
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	all := borders(content)
	var samples []int
	for _, at := range all[:len(all)-1] {
		if le.Uint32(content[at:]) == recordSample {
			samples = append(samples, at)
		}
	}
	time := func(at int) uint64 { return le.Uint64(content[at+recordHeader+16:]) }
	slices.SortFunc(samples, func(a, b int) int { return cmp.Compare(time(a), time(b)) })
	for _, at := range []int{samples[0], samples[len(samples)-1]} {
		changed := slices.Clone(content)
		le.PutUint32(changed[at:], recordThrottle) // something else
		if found := look(openFile(t, changed)); !slices.Contains(found.reasons, "missing-samples") || found.severity != problem.Error {
			t.Errorf("without the one at %d: %+v", at, found)
		}
	}
}

// A process is listed once, whatever its samples hold: the first readings of the
// counters of a group may count nothing.
func TestGroupThatCountsNothing(t *testing.T) {
	b := &builder{order: binary.LittleEndian, more: sampleRead}
	for i, value := range []int{0, 0, 0, 1000, 1000, 1500} {
		b.record(recordSample, miscUser, 0x4010, uint32(5), uint32(5), 1000+i, value, 2, user, 0x4010)
	}
	b.record(recordSample, miscUser, 0x4010, uint32(6), uint32(6), 2000, 1500, 2, user, 0x4010)
	rec := openFile(t, b.file())
	var got []string
	for _, p := range rec.Processes {
		got = append(got, fmt.Sprintf("%d: pid %d, %d samples", p.Number, p.PID, p.Records(schema.Perf)))
	}
	if d := gocmp.Diff([]string{"1: pid 5, 2 samples", "2: pid 6, 0 samples"}, got); d != "" {
		t.Error(d)
	}
	if sum := sumsOf(t, rec.Processes[0])[0]; sum != 1500 {
		t.Errorf("%d, want 1500", sum)
	}
}

// sumsOf adds up the periods of a process's samples by event.
func sumsOf(t *testing.T, p *decode.Process) map[int]int64 {
	t.Helper()
	sums := map[int]int64{}
	events := p.Events(schema.Perf)
	defer events.Close()
	for {
		b, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			return sums
		}
		tags := b.Column(schema.EventPayloadStart).(*array.Int32).Int32Values()
		for i, period := range b.Column(schema.EventPayloadStart + columnPeriod).(*array.Int64).Int64Values() {
			sums[int(tags[i])] += period
		}
		b.Release()
	}
}

// The counters of a group in several processes have the sums that perf has.
func TestGroupSums(t *testing.T) {
	dir := recordings(t)
	want, err := os.ReadFile(filepath.Join(dir, "group.txt"))
	if err != nil {
		t.Fatal(err)
	}
	rec := New().Open(filepath.Join(dir, "group.data"))
	defer rec.Close()
	var got []string
	for _, p := range rec.Processes {
		sums := sumsOf(t, p)
		for i, c := range p.Counters {
			got = append(got, fmt.Sprintln(p.PID, c.Name, sums[i]))
		}
	}
	slices.Sort(got)
	if d := gocmp.Diff(string(want), strings.Join(got, "")); d != "" {
		t.Error(d)
	}
}
