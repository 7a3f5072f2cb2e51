package perfdata

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackmill/schema"
	"stackmill/stages/decode"
)

// editRecords returns a recording with edited records. It corrects the offsets of the features'
// sections, which follow the records.
func editRecords(file []byte, edit func(records [][]byte) [][]byte) []byte {
	word := func(at uint64) uint64 { return binary.LittleEndian.Uint64(file[at:]) }
	const dataOffset, dataSize, featureBits = 40, 48, 72
	from, end := word(dataOffset), word(dataOffset)+word(dataSize)
	var records [][]byte
	for at := from; at < end; {
		size := uint64(binary.LittleEndian.Uint16(file[at+6:]))
		records = append(records, file[at:at+size])
		at += size
	}
	data := slices.Concat(edit(records)...)
	out := slices.Concat(file[:from], data, file[end:])
	binary.LittleEndian.PutUint64(out[dataSize:], uint64(len(data)))
	index, features := from+uint64(len(data)), 0
	for at := range uint64(4) {
		features += bits.OnesCount64(word(featureBits + 8*at))
	}
	for n := range uint64(features) {
		at := out[index+16*n:]
		binary.LittleEndian.PutUint64(at, binary.LittleEndian.Uint64(at)+uint64(len(data))-(end-from))
	}
	return out
}

// mutant returns a damaged recording, and how it was damaged.
func mutant(random *rand.Rand, file []byte) ([]byte, string) {
	switch random.IntN(5) {
	case 0:
		at := random.IntN(len(file))
		return file[:at], fmt.Sprintf("cut at %d", at)
	case 1:
		n := 0
		return editRecords(file, func(records [][]byte) [][]byte {
			n = 1 + random.IntN(5)
			for range n {
				at := random.IntN(len(records))
				records = slices.Insert(slices.Clone(records), random.IntN(len(records)+1), records[at])
			}
			return records
		}), fmt.Sprint(n, " doubled records")
	case 2:
		n := 1 + random.IntN(8)
		return editRecords(file, func(records [][]byte) [][]byte {
			records = slices.Clone(records)
			for range n {
				at := random.IntN(len(records))
				records = slices.Delete(records, at, at+1)
			}
			return records
		}), fmt.Sprint(n, " records removed")
	case 3: // of the records, which lie in front
		out, how := slices.Clone(file), ""
		from := binary.LittleEndian.Uint64(file[40:])
		size := binary.LittleEndian.Uint64(file[48:])
		for range 1 + random.IntN(50) {
			at := from + random.Uint64N(size)
			out[at] = byte(random.Uint32())
			how += fmt.Sprintf(" %d=%#x", at, out[at])
		}
		return out, "bytes of records:" + how
	}
	out, how := slices.Clone(file), ""
	for range 1 + random.IntN(8) {
		at := random.IntN(len(out))
		out[at] ^= 1 << random.IntN(8)
		how += fmt.Sprintf(" %d=%#x", at, out[at])
	}
	return out, "bits:" + how
}

// eventsOf calls visit for the batches of a kind of all processes, and checks how many rows they have.
func eventsOf(rec *decode.Recording, kind schema.Kind, visit func(p *decode.Process, e schema.Events) error) error {
	for _, p := range rec.Processes {
		n, events := int64(0), p.Events(kind)
		defer events.Close()
		for {
			b, err := events.Next()
			if err != nil {
				return err
			}
			if b == nil {
				break
			}
			err = visit(p, schema.Events{RecordBatch: b})
			n += b.NumRows()
			if b.Release(); err != nil {
				return err
			}
		}
		if n != p.Records(kind) {
			return fmt.Errorf("process %d has %d events of kind %v, announced are %d", p.Number, n, kind, p.Records(kind))
		}
	}
	return nil
}

// checkStates checks that the states of each thread adjoin, except after an exit; that a CPU runs
// one thread at a time; that each wait is a sample; and that the samples share all time on CPUs.
func checkStates(rec *decode.Recording) error {
	var states []decode.ThreadState
	if rec.ThreadStates != nil {
		if err := rec.ThreadStates(func(s *decode.ThreadState) error { states = append(states, *s); return nil }); err != nil {
			return err
		}
	}
	type key struct {
		process int
		thread  int64
	}
	last, onCPU := map[int64]decode.ThreadState{}, map[int32][]decode.ThreadState{}
	waits, on := 0, map[key]int64{}
	slices.SortStableFunc(states, func(a, b decode.ThreadState) int { return int(a.FromNS - b.FromNS) })
	for _, s := range states { // sorted over all processes: a damaged record may give a thread to another process
		k := key{s.Process, s.ThreadID}
		before, known := last[s.ThreadID]
		last[s.ThreadID] = s
		state, border := schema.StateNames[s.State], schema.BorderNames[s.Border]
		switch {
		case s.UntilNS <= s.FromNS:
			return fmt.Errorf("no time: %+v", s)
		case known && (before.UntilNS > s.FromNS || before.UntilNS < s.FromNS && schema.BorderNames[before.Border] != "exit"):
			return fmt.Errorf("%+v and %+v do not adjoin", before, s)
		case (state == "unknown") != (border != "" && border != "exit"):
			return fmt.Errorf("the border contradicts the state: %+v", s)
		case (s.WaitSample >= 0) != (state != "on" && state != "unknown" && s.Process > 0):
			return fmt.Errorf("a wait without a sample, or a sample without a wait: %+v", s)
		}
		if s.WaitSample >= 0 {
			waits++
		}
		if state == "on" && s.Process > 0 {
			on[k] += s.UntilNS - s.FromNS
		}
		if state == "on" && s.CPU >= 0 {
			onCPU[s.CPU] = append(onCPU[s.CPU], s)
		}
	}
	for _, list := range onCPU {
		slices.SortFunc(list, func(a, b decode.ThreadState) int { return int(a.FromNS - b.FromNS) })
		for i := 1; i < len(list); i++ {
			if list[i-1].UntilNS > list[i].FromNS {
				return fmt.Errorf("%+v and %+v are on one CPU", list[i-1], list[i])
			}
		}
	}
	got, hasClock := map[key]int64{}, false
	events := map[int64]string{} // by number of the sample; each process's waits also take numbers
	first := map[*decode.Process]int64{}
	for n, number := 0, int64(0); n < len(rec.Processes); n++ {
		p := rec.Processes[n]
		first[p] = number
		number += p.Records(schema.Perf) + p.Records(schema.Wait)
	}
	err := eventsOf(rec, schema.Perf, func(p *decode.Process, e schema.Events) error {
		from := first[p]
		first[p] += e.NumRows()
		threads := e.Int64s("thread_id")
		for i, event := range e.Int32s("event") {
			events[from+int64(i)] = p.Counters[event].Name
		}
		for i, share := range e.Int64s("wall_ns") {
			if hasClock = hasClock || share >= 0; share > 0 {
				got[key{p.Number, threads[i]}] += share
			}
		}
		if rec.Fields == nil {
			return nil
		}
		return rec.Fields.Fields(e.RecordBatch, from, func(int, int, decode.FieldValue) {})
	})
	if err != nil {
		return err
	}
	if rec.Fields != nil {
		rec.Fields.Close()
	}
	err = eventsOf(rec, schema.Wait, func(p *decode.Process, e schema.Events) error {
		threads, durations, wakers := e.Int64s("thread_id"), e.Int64s("duration_ns"), e.Int64s("waker_sample")
		for i, state := range e.Int32s("state") {
			if wakers[i] >= 0 && !strings.Contains(events[wakers[i]], "sched_wak") || durations[i] <= 0 {
				return fmt.Errorf("a wait of %d ns, woken up by a sample of %q", durations[i], events[wakers[i]])
			}
			if schema.StateNames[state] == "on" {
				got[key{p.Number, threads[i]}] += durations[i]
			} else {
				waits--
			}
		}
		return nil
	})
	if err == nil && waits != 0 {
		err = fmt.Errorf("%d more states than samples are waits", waits)
	}
	if err == nil && hasClock && !maps.Equal(got, on) {
		err = fmt.Errorf("samples have %v of the time on CPUs, %v", got, on)
	}
	return err
}

// Damaged recordings are read to their end, and what is known of threads stays consistent.
func TestWallMutants(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"naps_both", "naps_all", "lost_small"} {
		file, err := os.ReadFile(filepath.Join(wallData, name+".data"))
		if err != nil {
			t.Fatal(err)
		}
		followed := 0
		for n := range 100 {
			content, how := mutant(random, file)
			path := filepath.Join(t.TempDir(), "perf.data")
			if err := os.WriteFile(path, content, 0o644); err != nil {
				t.Fatal(err)
			}
			rec := New().Open(t.Context(), path)
			if rec.ThreadStates != nil {
				followed++
			}
			if err := checkStates(rec); err != nil {
				t.Errorf("mutant %d of %s, %s: %v", n, name, how, err)
			}
			if err := rec.HostErr.Err(); err != nil {
				t.Errorf("mutant %d of %s, %s: %v", n, name, how, err)
			}
			rec.Close()
		}
		if followed < 50 {
			t.Errorf("%s: only %d mutants tell the states of threads", name, followed)
		}
	}
}

// All recordings with switches are consistent.
func TestWallStates(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(wallData, "*.data"))
	if len(files) < 14 {
		t.Fatal("recordings are missing:", files)
	}
	for _, path := range files {
		rec := New().Open(t.Context(), path)
		if err := checkStates(rec); err != nil {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
		rec.Close()
	}
}

// Impossible times of switch records are corrected: they move no other times.
func TestDamagedSwitchTimes(t *testing.T) {
	_, want := openWall(t, "naps_switch")
	file, err := os.ReadFile(filepath.Join(wallData, "naps_switch.data"))
	if err != nil {
		t.Fatal(err)
	}
	const trailerTime = 16 // behind the header, pid and tid
	for _, time := range []uint64{1, 1 << 62, math.MaxUint64 - 1} {
		switches := 0
		rec := openFile(t, editRecords(file, func(records [][]byte) [][]byte {
			records = slices.Clone(records)
			for i, r := range records {
				if binary.LittleEndian.Uint32(r) != recordSwitch {
					continue
				}
				if switches++; switches == 20 {
					records[i] = slices.Clone(r)
					binary.LittleEndian.PutUint64(records[i][trailerTime:], time)
				}
			}
			return records
		}))
		var got []decode.ThreadState
		if err := rec.ThreadStates(func(s *decode.ThreadState) error { got = append(got, *s); return nil }); err != nil {
			t.Fatal(err)
		}
		same := 0
		for _, s := range got {
			if slices.ContainsFunc(want, func(w decode.ThreadState) bool {
				return w.FromNS == s.FromNS && w.UntilNS == s.UntilNS && w.State == s.State
			}) {
				same++
			}
		}
		if same < len(want)-4 || len(got) > len(want)+1 {
			t.Errorf("time %#x: %d of %d states are the same, of %d", time, same, len(want), len(got))
		}
		if err := checkStates(rec); err != nil {
			t.Errorf("time %#x: %v", time, err)
		}
	}
}

// All threads that still exist at the end have their last state, even if they are more than a batch.
func TestManyThreads(t *testing.T) {
	file, err := os.ReadFile(filepath.Join(wallData, "naps_switch.data"))
	if err != nil {
		t.Fatal(err)
	}
	const threads, first, trailerTID = 3 * batchSamples, 1_000_000, 12
	rec := openFile(t, editRecords(file, func(records [][]byte) [][]byte {
		at := slices.IndexFunc(records, func(r []byte) bool {
			return binary.LittleEndian.Uint32(r) == recordSwitch && binary.LittleEndian.Uint16(r[4:])&miscSwitchOut != 0
		})
		records = slices.Clone(records)
		for n := range threads {
			r := slices.Clone(records[at])
			binary.LittleEndian.PutUint32(r[trailerTID:], uint32(first+n))
			records = append(records, r)
		}
		return records
	}))
	last := map[int64]int{}
	if err := rec.ThreadStates(func(s *decode.ThreadState) error {
		if s.ThreadID >= first && schema.BorderNames[s.Border] == "end" {
			last[s.ThreadID]++
		}
		return nil
	}); err != nil || len(last) != threads {
		t.Errorf("%d threads: %v", len(last), err)
	}
	if err := checkStates(rec); err != nil {
		t.Error(err)
	}
}
