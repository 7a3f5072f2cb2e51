package perfdata

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/decode/schedule"
)

// fieldsOfSamples returns the fields of all samples of perf as `EVENT FIELD=VALUE ...`, in order.
func fieldsOfSamples(t *testing.T, rec *decode.Recording) (list []string) {
	t.Helper()
	names := map[string][]string{}
	for _, f := range rec.EventFields {
		if f.Position != len(names[f.Event]) {
			t.Errorf("%s of %s has position %d", f.Name, f.Event, f.Position)
		}
		names[f.Event] = append(names[f.Event], f.Name)
	}
	first := int64(0)
	for _, p := range rec.Processes {
		events := p.Events(schema.Perf)
		for {
			b, err := events.Next()
			if err != nil {
				t.Fatal(err)
			}
			if b == nil {
				break
			}
			rows := make([]string, b.NumRows())
			kinds := schema.Events{RecordBatch: b}.Int32s("event")
			for i, n := range kinds {
				rows[i] = p.Counters[n].Name
			}
			err = rec.Fields.Fields(b, first, func(row, position int, v decode.FieldValue) {
				name := names[p.Counters[kinds[row]].Name][position]
				if v.IsText {
					rows[row] += fmt.Sprintf(" %s=%q", name, v.Text)
				} else {
					rows[row] += fmt.Sprintf(" %s=%d", name, v.Number)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, rows...)
			first += b.NumRows()
			b.Release()
		}
		events.Close()
	}
	rec.Fields.Close()
	return list
}

// The fields of probes have the values that the program passed: unaligned numbers, strings, and
// what a function returned.
func TestProbeFields(t *testing.T) {
	rec := New().Open(t.Context(), filepath.Join(wallData, "bank_probe.data"))
	defer rec.Close()
	var want, got []string
	balance := 0
	for i := range 15 {
		amount, note, flag := 100+i, "wages", 255
		if i >= 10 {
			amount, note, flag = -40*(i-10), "market day", 1
		}
		balance += amount
		want = append(want,
			fmt.Sprintf("probe_bank:deposit number=42 amount=%d note=%q flag=%d hex=%d", amount, note, flag, uint32(amount)),
			fmt.Sprintf("probe_bank:deposit__return balance=%d", balance))
	}
	for _, row := range fieldsOfSamples(t, rec) {
		words := strings.Split(row, " ")
		if !slices.Contains(words, "common_pid=11901") || !slices.Contains(words, "common_flags=0") {
			t.Error("the common fields are not there:", row)
		}
		words = slices.DeleteFunc(words, func(w string) bool { return strings.HasPrefix(w, "common_") || strings.HasPrefix(w, "__probe_") })
		got = append(got, strings.Join(words, " "))
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if balance != 645 || !slices.ContainsFunc(got, func(row string) bool {
		return strings.Contains(row, "amount=-40") && strings.HasSuffix(row, "hex=4294967256")
	}) {
		t.Error("the program did something else:", balance)
	}
	if rec.ThreadStates != nil {
		t.Error("the recording has no switches")
	}
	if found := reasonsOf(rec); found["short-fields"] != 0 {
		t.Error(rec.Problems.Problems)
	}
}

// The fields of an event are described as the kernel has them, without those that columns repeat.
func TestEventFields(t *testing.T) {
	rec := New().Open(t.Context(), filepath.Join(wallData, "bank_probe.data"))
	defer rec.Close()
	const deposit, after = "probe_bank:deposit", "probe_bank:deposit__return"
	field := func(event string, position int, name, kind string, offset, size int, signed bool) decode.EventField {
		return decode.EventField{Event: event, System: "probe_bank", Position: position, Name: name, Type: kind, Offset: offset, Size: size, Signed: signed, Elements: 1}
	}
	note := field(deposit, 5, "note", "__data_loc char[]", 28, 4, true)
	note.Elements, note.Dynamic, note.Text = 0, true, true
	want := []decode.EventField{
		field(deposit, 0, "common_flags", "unsigned char", 2, 1, false), field(deposit, 1, "common_pid", "int", 4, 4, true),
		field(deposit, 2, "__probe_ip", "unsigned long", 8, 8, false), field(deposit, 3, "number", "s32", 16, 4, true),
		field(deposit, 4, "amount", "s64", 20, 8, true), note, field(deposit, 6, "flag", "u8", 32, 1, false), field(deposit, 7, "hex", "u32", 33, 4, false),
		field(after, 0, "common_flags", "unsigned char", 2, 1, false), field(after, 1, "common_pid", "int", 4, 4, true),
		field(after, 2, "__probe_func", "unsigned long", 8, 8, false), field(after, 3, "__probe_ret_ip", "unsigned long", 16, 8, false),
		field(after, 4, "balance", "s64", 24, 8, true),
	}
	if diff := gocmp.Diff(want, rec.EventFields); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Each sample of a tracepoint has all fields of its format, and samples of other events have none.
func TestAllFields(t *testing.T) {
	for _, name := range []string{"naps_both", "disk_all", "convoy_freq", "naps_sched", "ns_all"} {
		rec := New().Open(t.Context(), filepath.Join(wallData, name+".data"))
		fields, seen := map[string]int{}, map[string]int{}
		for _, f := range rec.EventFields {
			fields[f.Event]++
		}
		for _, row := range fieldsOfSamples(t, rec) {
			event, _, _ := strings.Cut(row, " ")
			if seen[event]++; strings.Count(row, "common_pid=") != min(fields[event], 1) || strings.Count(row, "common_flags=") != min(fields[event], 1) {
				t.Fatalf("%s: %s", name, row)
			}
			if strings.HasPrefix(event, "sched:sched_switch") && (!strings.Contains(row, ` prev_comm="`) || !strings.Contains(row, " prev_state=") || !strings.Contains(row, " next_pid=")) {
				t.Fatalf("%s: %s", name, row)
			}
		}
		if seen["sched:sched_switch"] == 0 || len(fields) == 0 || reasonsOf(rec)["short-fields"] != 0 {
			t.Errorf("%s: %v, %v", name, seen, rec.Problems.Problems)
		}
		rec.Close()
	}
}

// Fields that lie behind the end of a sample have no values, and a problem counts them.
func TestShortFields(t *testing.T) {
	typ := uint32(typeTracepoint)
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		b := &builder{order: order, typ: &typ, config: 77, more: sampleRaw, period: 1}
		format := "name: sched_switch\nID: 77\nformat:\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n" +
			"\tfield:s32 number;\toffset:8;\tsize:4;\tsigned:1;\n\tfield:__data_loc char[] text;\toffset:12;\tsize:4;\tsigned:0;\n\tfield:u64 list[2];\toffset:16;\tsize:16;\tsigned:0;\n"
		b.features = append(b.features, testFeature{featureTracing, oneFormat(order, format)})
		raw := func(time int, words ...any) {
			content := b.words(words...)
			body := append([]any{0x4010, uint32(1), uint32(1), time, 2, uint64(user), 0x4010, uint32(len(content))}, words...)
			b.record(recordSample, miscUser, body...)
		}
		number := int32(-5)
		raw(10, uint32(0), uint32(1), uint32(number))                                             // ends before the text
		raw(20, uint32(0), uint32(1), uint32(number), uint32(8<<16|16), "wages", uint32(0))       // ends within the list
		raw(30, uint32(0), uint32(1), uint32(number), uint32(8<<16|32), 7, 8, "wages", uint32(0)) // whole
		raw(40, uint32(0), uint32(1), uint32(number), uint32(9<<16|36), 7, 8, "wages", uint32(0)) // the text is longer than the sample
		rec := openFile(t, b.file())
		want := []string{
			"sched:sched_switch common_pid=1 number=-5",
			`sched:sched_switch common_pid=1 number=-5 text="wages"`,
			`sched:sched_switch common_pid=1 number=-5 text="wages" list="0x7,0x8"`,
			`sched:sched_switch common_pid=1 number=-5 list="0x7,0x8"`,
		}
		if diff := gocmp.Diff(want, fieldsOfSamples(t, rec)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if found := reasonsOf(rec); found["short-fields"] != 4 {
			t.Error(rec.Problems.Problems)
		}
	}
}

// oneFormat describes a tracepoint of the system sched, instead of those of tracingData.
func oneFormat(order binary.AppendByteOrder, format string) []byte {
	b := tracingData(order)
	at := min(bytes.Index(b, []byte("sched\x00")), bytes.Index(b, []byte("irq\x00")))
	b = append(order.AppendUint32(b[:at-4:at-4], 1), "sched\x00"...)
	b = order.AppendUint64(order.AppendUint32(b, 1), uint64(len(format)))
	return append(b, format...)
}

// Switches out alone do not show when threads came back: a problem reports it, and no states or
// waits are made.
func TestSwitchInNotRecorded(t *testing.T) {
	rec := New().Open(t.Context(), filepath.Join(wallData, "naps_sched.data"))
	defer rec.Close()
	if rec.ThreadStates != nil {
		t.Error("the recording has states of threads")
	}
	for _, p := range rec.Processes {
		if n := p.Records(schema.Wait); n != 0 {
			t.Errorf("%s has %d waits", p.Target, n)
		}
	}
	i := slices.IndexFunc(rec.Problems.Problems, func(p diagnostic.Problem) bool { return p.Reason == "switch-in-not-recorded" })
	if i < 0 || rec.Problems.Problems[i].Severity != diagnostic.Warning || !strings.Contains(rec.Problems.Problems[i].Message, "--switch-events") {
		t.Error(rec.Problems.Problems)
	}
}

// Sampled switches do not show the switches between them: a problem reports it.
func TestSwitchesSampled(t *testing.T) {
	rec := New().Open(t.Context(), filepath.Join(wallData, "sampled.data"))
	defer rec.Close()
	if reasons := reasonsOf(rec); rec.ThreadStates != nil || reasons["switches-sampled"] == 0 || reasons["switch-in-not-recorded"] != 0 {
		t.Error(rec.Problems.Problems)
	}
}

// If only one of two CPUs was recorded, the time that threads were on it is known, but not what
// they did otherwise.
func TestMissingCPUs(t *testing.T) {
	rec, states := openWall(t, "onecpu")
	on := 0
	for _, s := range states {
		switch schema.StateNames[s.State] {
		case "on":
			on++
		case "unknown":
		default:
			t.Errorf("%+v", s)
		}
	}
	if on < 5 || reasonsOf(rec)["cpus-not-recorded"] == 0 {
		t.Errorf("%d times on the CPU: %v", on, rec.Problems.Problems)
	}
	for _, p := range rec.Processes {
		reader := p.Events(schema.Wait)
		for b, _ := reader.Next(); b != nil; b, _ = reader.Next() {
			for _, state := range (schema.Events{RecordBatch: b}).Int32s("state") {
				if schedule.State(state) != schedule.On {
					t.Errorf("%s has a wait: %v", p.Target, schedule.State(state))
				}
			}
		}
	}
}

// If perf runs in its own process namespace, samples have other thread ids than tracepoint fields:
// a problem reports it, only for such recordings.
func TestOtherNamespace(t *testing.T) {
	for name, want := range map[string]int64{"ns_all": 1, "naps_all": 0, "feed_all": 0} {
		if rec, _ := openWall(t, name); reasonsOf(rec)["other-namespace"] != want {
			t.Errorf("%s: %v", name, rec.Problems.Problems)
		}
	}
}

// In a container, the tracepoint of a switch has another thread id than the switch record. They are
// joined: each wait has its stack and its thread's id in the container.
func TestContainer(t *testing.T) {
	rec, states := openWall(t, "container")
	for _, s := range states {
		if s.ThreadID > 10 || s.Process == 0 {
			t.Errorf("not a thread of the container: %+v", s)
		}
	}
	waits, slept := 0, int64(0)
	for _, p := range rec.Processes {
		reader := p.Events(schema.Wait)
		for b, _ := reader.Next(); b != nil; b, _ = reader.Next() {
			e := schema.Events{RecordBatch: b}
			durations, stacks := e.Int64s("duration_ns"), e.Int32s("raw_stack")
			for i, state := range e.Int32s("state") {
				if schedule.State(state) == schedule.On {
					continue
				}
				waits++
				var stack decode.RawStack
				if p.Stacks.Stack(stacks[i], &stack); stack.Reason == decode.ReasonNoWaitStack {
					t.Errorf("a wait of %d ns has no stack", durations[i])
				}
				if schedule.State(state) == schedule.Blocked {
					slept = max(slept, durations[i])
				}
			}
		}
	}
	if waits == 0 || slept < 19e6 || slept > 60e6 {
		t.Errorf("%d waits, the longest of %d ns", waits, slept)
	}
}

// latencyNames are the recordings with golden latencies: those with a clock and switch records of
// single processes.
var latencyNames = []string{"attach_late", "convoy_both", "convoy_freq", "feed_dwarf", "naps_both", "naps_switch", "phases_switch"}

// clockSums are sums over clock samples.
type clockSums struct{ value, latency, wall int64 }

// sumsByParallelism returns sums over clock samples by parallelism (the number of threads on a
// CPU), and the samples' wall-clock time by thread.
func sumsByParallelism(t *testing.T, rec *decode.Recording) (sums map[int64]clockSums, wall map[int64]int64) {
	t.Helper()
	sums, wall = map[int64]clockSums{}, map[int64]int64{}
	for _, p := range rec.Processes {
		events := p.Events(schema.Perf)
		for {
			b, err := events.Next()
			if err != nil {
				t.Fatal(err)
			}
			if b == nil {
				break
			}
			e := schema.Events{RecordBatch: b}
			kinds, periods, levels, walls, latencies, threads := e.Int32s("event"), e.Int64s("period"), e.Int64s("parallelism"), e.Int64s("wall_ns"), e.Int64s("latency_ns"), e.Int64s("thread_id")
			for i, level := range levels {
				isClock := strings.Contains(p.Counters[kinds[i]].Name, "clock")
				if isClock != (level > 0) || isClock != (latencies[i] >= 0) {
					t.Fatalf("a sample of %s: parallelism %d, latency %d", p.Counters[kinds[i]].Name, level, latencies[i])
				}
				if !isClock {
					continue
				}
				s := sums[level]
				sums[level] = clockSums{s.value + periods[i], s.latency + latencies[i], s.wall + max(walls[i], 0)}
				wall[threads[i]] += max(walls[i], 0)
			}
			b.Release()
		}
		events.Close()
	}
	return sums, wall
}

// The latency of samples is the same as in `perf report --latency`.
func TestLatency(t *testing.T) {
	for _, name := range latencyNames {
		t.Run(name, func(t *testing.T) {
			rec, _ := openWall(t, name)
			sums, _ := sumsByParallelism(t, rec)
			want, got := map[int64][2]int64{}, map[int64][2]int64{}
			for _, row := range goldenRows(t, name+".latency.tsv") {
				if row[0] == "parallelism" {
					continue
				}
				var level, value, latency int64
				fmt.Sscan(strings.Join(row, " "), &level, &value, &latency)
				want[level] = [2]int64{value, latency}
			}
			for level, s := range sums {
				got[level] = [2]int64{s.value, s.latency}
			}
			if name == "attach_late" { // attached while the thread waited, perf counts it twice
				w := want[2]
				want = map[int64][2]int64{1: {w[0], w[0]}}
			}
			if !maps.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}

// The clock samples of a thread share the time that it was on a CPU, to the nanosecond. A thread
// without such samples gets a sample with its time.
func TestWallShares(t *testing.T) {
	for _, name := range latencyNames {
		t.Run(name, func(t *testing.T) {
			rec, states := openWall(t, name)
			want := map[int64]int64{}
			for _, s := range states {
				if schema.StateNames[s.State] == "on" {
					want[s.ThreadID] += s.UntilNS - s.FromNS
				}
			}
			_, got := sumsByParallelism(t, rec)
			for _, p := range rec.Processes {
				events := p.Events(schema.Wait)
				for {
					b, err := events.Next()
					if err != nil {
						t.Fatal(err)
					}
					if b == nil {
						break
					}
					e := schema.Events{RecordBatch: b}
					threads, durations := e.Int64s("thread_id"), e.Int64s("duration_ns")
					for i, state := range e.Int32s("state") {
						if schema.StateNames[state] == "on" {
							got[threads[i]] += durations[i]
						}
					}
					b.Release()
				}
				events.Close()
			}
			if !maps.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}

// Shares of huge values add up to the thread's time.
func TestHugeShares(t *testing.T) {
	for _, values := range [][]int64{{math.MaxInt64, math.MaxInt64, 3}, {3, math.MaxInt64, math.MaxInt64}, {math.MaxInt64}, {1, 1, 1}, {0, 0, 7}} {
		p := &process{}
		for _, v := range values {
			p.measure(7).add(v)
		}
		times := p.waits().times[7]
		times.on = math.MaxInt64 - 1
		w := wallShares{times: p.waits().times, given: map[int32]*threadTime{}}
		sum := int64(0)
		for _, v := range values {
			share := w.next(7, v, times)
			if share < 0 {
				t.Errorf("%v: a share of %d", values, share)
			}
			sum += share
		}
		if sum != times.on {
			t.Errorf("%v: the shares are %d, want %d", values, sum, times.on)
		}
	}
}

// A wait has the name that its thread had at the switch out, even if only switch records show the
// switch.
func TestWaitNames(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		b := &builder{order: order, flags: flagContextSwitch}
		rename := func(time int, name string) {
			b.record(recordComm, 0, uint32(1), uint32(1), name, uint32(1), uint32(1), time)
		}
		switched := func(time int, misc uint16) { b.record(recordSwitch, misc, uint32(1), uint32(1), time) }
		const start = 100_000_000 // after the machine booted
		rename(0, "first")
		b.sample(1, start, user, 0x4010)
		switched(start+10, miscSwitchOut)
		switched(start+20, 0)
		rename(start+30, "second")
		switched(start+40, miscSwitchOut)
		rename(start+45, "third")
		switched(start+50, 0)
		switched(start+60, miscSwitchOut|miscSwitchPreempt)
		switched(start+70, 0)
		rec := openFile(t, b.file())
		if len(rec.Processes) != 1 {
			t.Fatal(rec.Problems.Problems)
		}
		p := rec.Processes[0]
		names := map[int32]string{}
		for _, n := range p.ThreadNames {
			names[n.Number] = n.Name
		}
		var got []string
		events := p.Events(schema.Wait)
		defer events.Close()
		for {
			batch, err := events.Next()
			if err != nil {
				t.Fatal(err)
			}
			if batch == nil {
				break
			}
			e := schema.Events{RecordBatch: batch}
			times, durations, states := e.Int64s("time_ns"), e.Int64s("duration_ns"), e.Int32s("state")
			for i, n := range e.Int32s("name_no") {
				got = append(got, fmt.Sprintf("%s %s until %d for %d", names[n], schema.StateNames[states[i]], times[i], durations[i]))
			}
			batch.Release()
		}
		want := []string{"first blocked until 20 for 10", "second blocked until 50 for 10", "third preempted until 70 for 10"}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}
