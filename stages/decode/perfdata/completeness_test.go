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

	"stackmill/internal/corpus"
	"stackmill/schema"
	"stackmill/schema/diagnostic"
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

// findings are the number of samples in a recording, and the severity of the problems that say that
// the recording is incomplete.
type findings struct {
	samples  int64
	severity diagnostic.Severity // of the worst, Info if there is none
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

// If a recording in one file was cut and lacks samples, a problem reports it. A cut between two
// records of a pipe cannot be proved: the problem is a warning, or Info if perf had emptied its
// buffers there.
func TestCuts(t *testing.T) {
	dir := recordings(t)
	for _, tt := range []struct {
		name    string
		doubted bool // even the whole recording may be incomplete, according to its problems
		open    bool // a cut between two records cannot be proved
	}{
		{name: "file"}, {name: "packed"}, {name: "killed", doubted: true},
		{name: "pipe", open: true}, {name: "pipe_packed", open: true}, {name: "pipe_injected", open: true}, {name: "pipe_running", doubted: true, open: true},
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
				return look(New().Open(t.Context(), path))
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
				if lost++; found.severity == diagnostic.Error {
					continue
				}
				if found.severity == diagnostic.Info {
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
		whole := look(New().Open(t.Context(), filepath.Join(dir, name+".data")))
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
			if found := look(New().Open(t.Context(), filepath.Join(dir, name+".data"))); found.severity != diagnostic.Error {
				t.Errorf("%s without %s: %+v", name, file, found)
			}
			inside := borders(content)
			for _, at := range cuts(content) {
				if err := os.WriteFile(path, content[:at], 0o644); err != nil {
					t.Fatal(err)
				}
				found := look(New().Open(t.Context(), filepath.Join(dir, name+".data")))
				if found.samples < whole.samples && found.severity != diagnostic.Error && !slices.Contains(inside, at) {
					t.Errorf("%s cut at %d: %+v, of %d samples", path, at, found, whole.samples)
				}
			}
			if err := os.WriteFile(path, content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The header of a file has the time of the last sample: if that sample is missing, a problem
// reports it even if no record is damaged.
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
	for at, severity := range map[int]diagnostic.Severity{samples[0]: diagnostic.Warning, samples[len(samples)-1]: diagnostic.Error} {
		changed := slices.Clone(content)
		le.PutUint32(changed[at:], recordThrottle) // something else
		if found := look(openFile(t, changed)); !slices.Contains(found.reasons, "missing-samples") || found.severity != severity {
			t.Errorf("without the one at %d: %+v", at, found)
		}
	}
}

// A process is listed once, even if its first samples have no rows because the counters of a group
// have counted nothing yet.
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
	rec := New().Open(t.Context(), filepath.Join(dir, "group.data"))
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

// A recording that was stopped, in whichever way, is complete: no error reports losses, and all
// samples that perf finds are there.
func TestStopped(t *testing.T) {
	dir := t.TempDir()
	if err := corpus.Unpack("../../../testdata/perf/stopped.tar.gz", dir); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "stopped")
	list, err := os.ReadFile(filepath.Join(dir, "samples.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{ // besides what all have
		"lost":          {"lost-records", "lost-samples"},
		"pipe_control":  {"no-end"},
		"pipe_messages": {"text"},
	}
	recordings := 0
	for line := range strings.Lines(string(list)) {
		var name string
		var samples int64
		if _, err := fmt.Sscan(line, &name, &samples); err != nil {
			t.Fatal(line, err)
		}
		recordings++
		found := look(New().Open(t.Context(), filepath.Join(dir, name+".data")))
		if found.samples != samples {
			t.Errorf("%s: %d samples, want %d", name, found.samples, samples)
		}
		if d := gocmp.Diff(want[name], found.reasons); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if found.severity == diagnostic.Error || found.severity == diagnostic.Warning && name != "lost" {
			t.Errorf("%s: %+v", name, found)
		}
	}
	if recordings < 20 {
		t.Errorf("%d recordings", recordings)
	}
}

// Versions of perf before 4.17 mark neither empty buffers nor the end of the initial records.
// Whether a pipe recording of such a version is complete is unknown: a problem of severity Info
// reports that.
func TestPipeWithoutMarks(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(recordings(t), "pipe.data"))
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	var old []byte
	all := borders(content)
	for i, at := range all[:len(all)-1] {
		if i == 0 {
			old = slices.Clone(content[:at])
		}
		switch typ := le.Uint32(content[at:]); typ {
		case recordFinishedRound, recordFinishedInit, recordHeaderFeature:
		default:
			old = append(old, content[at:all[i+1]]...)
		}
	}
	whole := look(openFile(t, old))
	if whole.samples < 100 || whole.severity != diagnostic.Info {
		t.Errorf("%+v", whole)
	}
}

// Text between records and behind them is what programs printed to the same pipe. No
// record is lost with it.
func TestTextBetweenRecords(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(recordings(t), "pipe.data"))
	if err != nil {
		t.Fatal(err)
	}
	whole := look(openFile(t, content))
	all := borders(content)
	for _, text := range []string{"done\n", "[ perf record: Captured and wrote 0.004 MB - ]\n", "tabs\t\t\n\x1b[31mgrün\x1b[0m\r\n"} {
		for _, at := range []int{all[5], all[len(all)/2], all[len(all)-2], len(content)} {
			changed := slices.Insert(slices.Clone(content), at, []byte(text)...)
			found := look(openFile(t, changed))
			if d := gocmp.Diff([]string{"text"}, found.reasons); d != "" || found.samples != whole.samples || found.severity != diagnostic.Info {
				t.Errorf("%q at %d: %+v, want %d samples", text, at, found, whole.samples)
			}
		}
	}
}

// The header of a recording may have times of samples that are not in it: perf inject may have
// dropped them, or perf wrote several files.
func TestTimesOfOthers(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(recordings(t), "file.data"))
	if err != nil {
		t.Fatal(err)
	}
	whole := openFile(t, content)
	le := binary.LittleEndian
	h, err := readHeader(content)
	if err != nil {
		t.Fatal(err)
	}
	entry := int(h.data.offset+h.data.size) + 16*slices.Index(h.features, featureTimes)
	times := int(le.Uint64(content[entry:]))
	first, last := le.Uint64(content[times:]), le.Uint64(content[times+8:])
	for _, tt := range []struct {
		command, option string
		earlier, later  uint64 // than the samples: the header's times
		want            []string
	}{
		{"record", "-q", 0, 0, nil},
		{"record", "-q", 1000, 0, []string{"warning missing-samples"}},
		{"record", "-q", 0, 1000, []string{"error missing-samples"}},
		{"record", "--switch-output=1s", 1000, 0, nil},
		{"record", "--switch-output", 0, 1000, []string{"error missing-samples"}},
		{"inject", "--strip", 1000, 1000, nil},
	} {
		changed := slices.Clone(content)
		replace := func(old, new []byte) {
			at := bytes.LastIndex(changed, old)
			if at < 0 {
				t.Fatalf("no %q", old)
			}
			copy(changed[at:], new)
		}
		le.PutUint64(changed[times:], first-tt.earlier)
		le.PutUint64(changed[times+8:], last+tt.later)
		replace([]byte("record\x00"), []byte(tt.command+"\x00"))
		replace([]byte("-q\x00"), []byte(tt.option+"\x00"))
		rec := openFile(t, changed)
		var got []string
		for _, p := range rec.Problems.Problems {
			got = append(got, p.Severity.String()+" "+p.Reason)
		}
		if d := gocmp.Diff(tt.want, got); d != "" || len(rec.Processes) != len(whole.Processes) {
			t.Errorf("%+v: %s", tt, d)
		}
	}
}

// Recordings that were put together in one file are not lost silently: the first is read.
func TestAnotherRecording(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(recordings(t), "file.data"))
	if err != nil {
		t.Fatal(err)
	}
	one := look(openFile(t, content))
	found := look(openFile(t, slices.Concat(content, content)))
	if found.samples != one.samples || found.severity != diagnostic.Error || !slices.Contains(found.reasons, "another-recording") {
		t.Errorf("%+v, alone %+v", found, one)
	}
}
