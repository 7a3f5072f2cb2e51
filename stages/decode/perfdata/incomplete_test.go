package perfdata

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/decode/schedule"
)

// wallFile returns a recording with bytes replaced by others of the same length.
func wallFile(t *testing.T, name string, replaced ...string) []byte {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(wallData, name+".data"))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(replaced); i += 2 {
		from, to := []byte(replaced[i]), []byte(replaced[i+1])
		if !bytes.Contains(file, from) || len(from) != len(to) {
			t.Fatalf("%q is not there, or longer or shorter than %q", from, to)
		}
		file = bytes.ReplaceAll(file, from, to)
	}
	return file
}

// If perf left out switches in a way that its command line tells, no waits are measured, and a
// problem says why.
func TestIncompleteSwitches(t *testing.T) {
	const option, command = "--synth=no", "record\x00\x00"
	for reason, replaced := range map[string][]string{
		"switches-filtered": {option, "--filter=x"},
		"recording-paused":  {option, "-D1-2,3-4\x00"},
		"switches-moved":    {option, "-vs\x00\x00\x00\x00\x00\x00\x00", command, "inject\x00\x00"},
	} {
		rec := openFile(t, wallFile(t, "naps_all", replaced...))
		if rec.ThreadStates != nil || reasonsOf(rec)[reason] != 1 {
			t.Error(reason, rec.Problems.Problems)
		}
	}
	rec := openFile(t, wallFile(t, "naps_all", option, "--control="))
	if rec.ThreadStates == nil || reasonsOf(rec)["maybe-paused"] != 1 {
		t.Error(rec.Problems.Problems)
	}
}

// A filter matters only for the event before it, and a pause only between two times.
func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		argv            []string
		filtered, pause bool
	}{
		{[]string{"perf", "record", "-e", "sched:sched_switch", "--filter", "prev_pid==1"}, true, false},
		{[]string{"perf", "record", "--event=sched:*", "--filter=prev_pid==1"}, true, false},
		{[]string{"perf", "record", "-esched:sched_switch", "--filter", "x"}, true, false},
		{[]string{"perf", "record", "-e", "sched:sched_switch,block:block_rq_issue", "--filter", "bytes>0"}, false, false},
		{[]string{"perf", "record", "-e", "sched:sched_switch", "-e", "block:block_rq_issue", "--filter", "bytes>0"}, false, false},
		{[]string{"perf", "record", "-a", "-D", "10-20,30-40"}, false, true},
		{[]string{"perf", "record", "--delay=10-20,30-40"}, false, true},
		{[]string{"perf", "record", "-D", "10-20"}, false, false},
		{[]string{"perf", "record", "-D", "-1", "-e", "a,b-c"}, false, false},
		{nil, false, false},
	} {
		r := &reader{meta: metadata{argv: c.argv}}
		if r.filtersSwitches() != c.filtered || r.pauses() != c.pause {
			t.Error(c.argv, r.filtersSwitches(), r.pauses())
		}
	}
}

// If perf's buffers kept only the last records, waits before the first record of a CPU are unknown.
func TestOverwritten(t *testing.T) {
	file := wallFile(t, "naps_all")
	word := binary.LittleEndian.Uint64
	for at, end := word(file[24:]), word(file[24:])+word(file[32:]); at < end; at += word(file[16:]) {
		file[at+40+3] |= flagBackward >> 24
	}
	rec := openFile(t, file)
	first := map[int32]int64{} // CPU -> its first sample, in ns
	if err := eventsOf(rec, schema.Perf, func(_ *decode.Process, e schema.Events) error {
		times := e.Int64s("time_ns")
		for i, cpu := range e.Int32s("cpu") {
			if at, known := first[cpu]; !known || times[i] < at {
				first[cpu] = times[i]
			}
		}
		return nil
	}); err != nil || len(first) != 2 {
		t.Fatal(first, err)
	}
	lost := 0
	if err := rec.ThreadStates(func(s *decode.ThreadState) error {
		if schema.BorderNames[s.Border] == "loss" {
			lost++
		}
		if schedule.State(s.State).Waits() && s.FromNS < max(first[0], first[1]) {
			t.Errorf("a wait before all CPUs have records: %+v", s)
		}
		return nil
	}); err != nil || lost == 0 {
		t.Error(lost, err)
	}
}

// Records are lost since the last one of their CPU, even if those of other CPUs lie between them in
// the file.
func TestLostSince(t *testing.T) {
	var s schedulerRecords
	s.passedTime(100, 0)
	s.passedTime(110, 1)
	s.finishedRound()
	s.passedTime(205, 1)
	s.lostAt(200, 0)
	s.passedTime(200, 0)
	s.finishedRound()
	s.lostAt(300, -1)
	s.lostAt(310, 5)
	want := []schedule.LostTime{{From: 100, To: 200, CPU: 0}, {From: 110, To: 300, CPU: -1}, {From: 110, To: 310, CPU: 5}}
	if diff := cmp.Diff(want, s.lost); diff != "" {
		t.Error(diff)
	}
	s.lost = nil
	s.loseBefore()
	s.loseAfter()
	want = []schedule.LostTime{{To: 100, CPU: 0}, {To: 110, CPU: 1}, {From: 200, To: noTime, CPU: 0}, {From: 205, To: noTime, CPU: 1}}
	if diff := cmp.Diff(want, s.lost); diff != "" {
		t.Error(diff)
	}
}

// Tracepoints without a description, or with a damaged one, are reported.
func TestDamagedDescriptions(t *testing.T) {
	const magic, pid = "\x17\x08\x44tracing", "pid_t prev_pid;\toffset:24;\tsize:4;"
	for _, c := range []struct {
		reason   string
		replaced []string
	}{
		{"no-format", []string{magic, "\x17\x08\x45tracing"}},
		{"bad-format", []string{pid, "pid_t prev_pid;\toffset:22;\tsize:4;"}},
		{"bad-format", []string{pid, "pid_t prev_pie;\toffset:24;\tsize:4;"}},
		{"bad-format", []string{"{ 0x00000002, \"D\" }", "{ 0x00000002, \"?\" }"}},
	} {
		rec := openFile(t, wallFile(t, "naps_all", c.replaced...))
		if reasonsOf(rec)[c.reason] == 0 {
			t.Error(c.replaced, rec.Problems.Problems)
		}
	}
}

// Old kernels do not record whether a thread was preempted.
func TestOldKernel(t *testing.T) {
	for os, want := range map[string]bool{"Linux 4.4.0-21-generic": true, "Linux 4.16": true, "Linux 4.17.0": false, "Linux 6.18.5": false, "": false, "Linux x": false} {
		r := &reader{recordParser: recordParser{rec: &decode.Recording{OS: os}}}
		if r.oldKernel() != want {
			t.Error(os)
		}
	}
}

// Without the list of counters (ID_INDEX), or with a damaged one, a recording does not count as one
// of all threads or of all CPUs.
func TestDamagedIDIndex(t *testing.T) {
	edited := func(name string, edit func(r []byte) []byte) *decode.Recording {
		return openFile(t, editRecords(wallFile(t, name), func(records [][]byte) [][]byte {
			records = slices.Clone(records)
			for i, r := range records {
				if binary.LittleEndian.Uint32(r) == recordIDIndex {
					records[i] = edit(bytes.Clone(r))
				}
			}
			return records
		}))
	}
	rec := edited("naps_sched", func(r []byte) []byte {
		for at := 16; at < len(r); at += idIndexEntry {
			r[at] ^= 0x80 // the id
		}
		return r
	})
	if rec.ThreadStates != nil || reasonsOf(rec)["switch-in-not-recorded"] == 0 {
		t.Error(rec.Problems.Problems)
	}
	rec = edited("onecpu", func([]byte) []byte { return nil })
	if rec.ThreadStates != nil && reasonsOf(rec)["cpus-not-recorded"] == 0 {
		t.Error(rec.Problems.Problems)
	}
}

// Counters of virtual machines do not count the CPUs of the machine.
func TestGuestCounters(t *testing.T) {
	r := &reader{meta: metadata{cpus: map[uint64]bool{}, cpuOf: map[uint64]uint64{}}}
	words := func(list ...uint64) (b []byte) {
		for _, w := range list {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
		return b
	}
	all := ^uint64(0)
	r.idIndex(words(7, 0, 1, all, 8, 1, 1, all, 9, 2, 1, 5), words(0, 0, 4711, 0, 0, 0))
	r.idIndex(words(10, 3, 0, all), nil)
	if diff := cmp.Diff(map[uint64]uint64{7: 1, 10: 0}, r.meta.cpuOf); diff != "" {
		t.Error(diff)
	}
}
