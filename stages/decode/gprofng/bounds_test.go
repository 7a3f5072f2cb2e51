package gprofng_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/google/go-cmp/cmp"

	"stackmill/internal/corpus"
	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/decode/gprofng"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

const second = 1_000_000_000

// column lists a payload column of all events of a kind, and their times.
func columnOf(t *testing.T, p *decode.Process, k schema.Kind, column int) (times, values []int64) {
	t.Helper()
	events := p.Events(k)
	defer events.Close()
	for {
		b, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			return times, values
		}
		times = append(times, b.Column(schema.EventTime).(*array.Int64).Int64Values()...)
		values = append(values, b.Column(schema.EventPayloadStart+column).(*array.Int64).Int64Values()...)
		b.Release()
	}
}

// outOf lists the problems about values out of bounds: file, count, message.
func outOf(rec *decode.Recording) (list []string) {
	for _, p := range rec.Problems.Problems {
		if p.Reason == "value-out-of-bounds" {
			if p.Severity != diagnostic.Error || p.Offset < 0 {
				list = append(list, "not an error at an offset: "+p.String())
			}
			what, _, _ := strings.Cut(p.Message, " which")
			list = append(list, fmt.Sprintf("%s %d: %s", p.File, p.Count, what))
		}
	}
	return list
}

// An impossible value is left out and reported, for every summed field of every kind; its neighbors
// stay, and so do all possible values.
func TestValuesOutOfBounds(t *testing.T) {
	const failed, address = 0, 0x7f0000000000
	for _, tt := range []struct {
		kind    schema.Kind
		column  int
		attrs   string
		packets [][]int64 // values of the fields after time and stack
		layout  int
		want    []int64
		told    []string
	}{
		{schema.Clock, 1, `ptimer="10000" numstates="1"`, [][]int64{{10, 1}, {10, 2e9}, {10, 101}, {10, 100}}, 0,
			[]int64{1, 0, 101, 100}, []string{"profile 1: NTICK is 2000000000,"}},
		{schema.Clock, 1, `ptimer="10000" numstates="10"`, [][]int64{{1}, {5000}, {0, 7}}, 1,
			[]int64{1, 7}, []string{"profile 1: UCPU is 5000,"}},
		{schema.Heap, 1, "", [][]int64{{0, 64, address}, {0, math.MinInt64, address}, {0, 1 << 46, address}, {0, 1 << 44, address}, {0, 1 << 62, failed}, {0, -1, failed}, {2, 1 << 50, address}}, 0,
			[]int64{64, 0, 0, 0, 1 << 62, -1, 0}, []string{"heaptrace 4: HSIZE is 9223372036854775808 bytes,"}},
		{schema.Heap, 1, "", [][]int64{{3, 1 << 45, 0x10000000}, {4, 1 << 62, address}, {1, 0, address}}, 0,
			[]int64{1 << 45, 0, 0}, []string{"heaptrace 1: HSIZE is 4611686018427387904 bytes,"}},
		{schema.IO, 2, "", [][]int64{{0, 3, 4096}, {0, 3, -5}, {1, 3, 1 << 60}, {1, 3, 1 << 40}, {5, 3, -1}}, 0,
			[]int64{4096, 0, 0, 1 << 40, -1}, []string{"iotrace 2: IONBYTE is -5 bytes,"}},
		{schema.IO, 3, "", [][]int64{{0, 3, 1, second / 4}, {0, 3, 1, second}, {0, 3, 1, -1 << 61}}, 0,
			[]int64{second / 4, 0, 0}, []string{"iotrace 2: IORQST is 6000000000 ns,"}},
		{schema.Sync, 0, "", [][]int64{{100}, {-1 << 60}, {1 << 60}}, 0,
			[]int64{100, 0, 0}, []string{"synctrace 2: SRQST is 17293822574102704640 ns,"}},
		{schema.HWC, 1, "", [][]int64{{1, 1e9}, {1, 1 << 61}, {0, 5e9}, {0, 1e12}, {1, math.MinInt64}}, 0,
			[]int64{1e9, 0, 5e9, 0, -1}, []string{"hwcounters 2: HWCINT is 2305843009213693952,"}},
		{schema.HWC, 5, "", [][]int64{{1, 1, address, 0, 0, 0, 400}, {1, 1, address, 0, 0, 0, 1 << 60}}, 1,
			[]int64{400, 0}, []string{"hwcounters 1: MEM_LAT is 1152921504606846976 cycles,"}},
		{schema.Race, 3, "", [][]int64{{0, 0, 0, 0, 7}, {0, 0, 0, 0, -1}}, 0,
			[]int64{7, 0}, []string{"dataraces 1: RCNT is 18446744073709551615,"}},
	} {
		t.Run(fmt.Sprint(tt.kind, tt.column), func(t *testing.T) {
			e := gprofngtest.New(filepath.Join(t.TempDir(), "a.er"))
			e.Counter(0, "cycles", 1000003, "")
			e.Counter(1, "insts", 1000003, "")
			e.Declare(tt.kind, tt.attrs)
			stack := e.Frame(0x1000)
			for _, values := range tt.packets {
				e.Events(tt.kind).Put(0, &gprofngtest.Layouts[tt.kind][tt.layout], gprofngtest.Packet{Time: second / 2, Stack: stack, Values: values})
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			rec := gprofng.New().Open(t.Context(), e.Dir)
			defer rec.Close()
			_, got := columnOf(t, rec.Processes[0], tt.kind, tt.column)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(tt.told, outOf(rec)); d != "" {
				t.Error(d)
			}
		})
	}
}

// An event with a time outside of the experiment gets the time of the previous event, even if the
// log lacks the experiment's end. Nothing else changes.
func TestTimesOutOfBounds(t *testing.T) {
	for _, unclosed := range []bool{false, true} {
		e := gprofngtest.New(filepath.Join(t.TempDir(), "a.er"))
		e.Unclosed = unclosed
		e.Declare(schema.Clock, `ptimer="10000" numstates="1"`)
		e.Declare(schema.Sync, "")
		stack := e.Frame(0x1000)
		put := func(kind schema.Kind, time int64, values ...int64) {
			e.Events(kind).Put(0, &gprofngtest.Layouts[kind][0], gprofngtest.Packet{Time: time, Stack: stack, Values: values})
		}
		for i := range int64(1000) {
			time := i * 900_000
			switch i {
			case 300:
				time = 1 << 60
			case 600:
				time = -1 << 60
			}
			put(schema.Clock, time, 10, 1)
			put(schema.Sync, time, i*900_000-50)
		}
		put(schema.Clock, second*8/10, 10, 2e9)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		rec := gprofng.New().Open(t.Context(), e.Dir)
		defer rec.Close()
		times, ticks := columnOf(t, rec.Processes[0], schema.Clock, 1)
		var sum int64
		for i, time := range times {
			if time < 0 || time > second || i > 0 && time < times[i-1] {
				t.Fatalf("event %d is at %d", i, time)
			}
			sum += ticks[i]
		}
		if len(times) != 1001 || sum != 1000 {
			t.Errorf("%d events, %d ticks", len(times), sum)
		}
		_, requests := columnOf(t, rec.Processes[0], schema.Sync, 0)
		none := 0
		for _, r := range requests {
			if r == 0 {
				none++
			}
		}
		if none != 2 {
			t.Errorf("%d waits have no request, want the two whose end is not known", none)
		}
		want := []string{"profile 2: TSTAMP is 1152921509606846976 ns,", "profile 1: NTICK is 2000000000,", "synctrace 2: TSTAMP is 1152921509606846976 ns,"}
		if d := cmp.Diff(want, outOf(rec)); d != "" {
			t.Errorf("unclosed %t: %s", unclosed, d)
		}
	}
}

// Times, intervals and processors of the log are checked against the rest of the experiment.
func TestLogOutOfBounds(t *testing.T) {
	for _, tt := range []struct {
		name, log, replaced string
		told                []string
		duration            int64 // maximum duration
	}{
		{"exit", `event kind="exit" tstamp="1.`, `event kind="exit" tstamp="999999999.`, []string{"log.xml 1: tstamp of the element event is 999999999000000000 ns,"}, second},
		{"interval", `ptimer="10000"`, `ptimer="9223372036854775"`, []string{"log.xml 1: the interval of the clock profile is 9223372036854775000 ns,"}, second},
		{"no interval", `ptimer="10000"`, `ptimer="-5"`, []string{"log.xml 1: ptimer of the element profile is -5 us,"}, second},
		{"start", `event kind="run" tstamp="5.`, `event kind="run" tstamp="900000000.`, nil, second},
		{"page", `pagesz="4096"`, `pagesz="4097"`, []string{"log.xml 1: pagesz of the element system is 4097 bytes,"}, second},
		{"date", `time="1700000000"`, `time="9000000000000000000"`, []string{"log.xml 1: time of the element event is 9000000000000000000 s,", "log.xml 1: time of the element event is 9000000000000000000 s,"}, second},
		{"clock", `clk="2600"`, `clk="99999999"`, []string{"log.xml 1: clk of the element cpu is 99999999 MHz,", "log.xml 1: clk of the element cpu is 99999999 MHz,"}, second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := gprofngtest.New(filepath.Join(t.TempDir(), "a.er"))
			e.Declare(schema.Clock, `ptimer="10000" numstates="1"`)
			stack := e.Frame(0x1000)
			for i := range int64(90) {
				e.Events(schema.Clock).Put(0, &gprofngtest.Layouts[schema.Clock][0], gprofngtest.Packet{Time: i * second / 100, Stack: stack, Values: []int64{10, 1}})
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			replace(t, filepath.Join(e.Dir, "log.xml"), tt.log, tt.replaced)
			rec := gprofng.New().Open(t.Context(), e.Dir)
			defer rec.Close()
			p := rec.Processes[0]
			times, _ := columnOf(t, p, schema.Clock, 1)
			if n := len(times); n != 90 || times[0] < 0 || times[n-1] > second {
				t.Errorf("%d events from %d to %d", n, times[0], times[n-1])
			}
			if p.DurationNS > tt.duration || p.Kinds[0].TickNS < 0 || p.Kinds[0].TickNS > second {
				t.Errorf("duration %d, interval %d", p.DurationNS, p.Kinds[0].TickNS)
			}
			if rec.Problems.Errors() == 0 {
				t.Error("nothing is told")
			}
			if d := cmp.Diff(tt.told, outOf(rec)); d != "" {
				t.Error(d)
			}
		})
	}
}

func replace(t *testing.T, path, from, to string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), from) {
		t.Fatalf("no %s in %s", from, path)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(b), from, to)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A mapping that is longer than the process's memory is left out: all addresses after it would
// belong to it.
func TestMappingsOutOfBounds(t *testing.T) {
	e := gprofngtest.New(filepath.Join(t.TempDir(), "a.er"))
	e.Segment(0, 0x1000, 1<<50, 0, 5, "/bin/a")
	e.Segment(0, 0x7f0000000000, 0x1000, 0, 5, "/bin/b")
	e.Segment(0, 0xffffffffff600000, 0x1000, 0, 5, "[vsyscall]")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	rec := gprofng.New().Open(t.Context(), e.Dir)
	defer rec.Close()
	var paths []string
	for _, m := range rec.Processes[0].Mappings {
		paths = append(paths, m.Path)
	}
	if d := cmp.Diff([]string{"/bin/b", "[vsyscall]"}, paths); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"map.xml 1: the size of a mapping of /bin/a is 1125899906842624 bytes,"}, outOf(rec)); d != "" {
		t.Error(d)
	}
}

// Used resources are bounded by the time and the number of processors.
func TestOverviewOutOfBounds(t *testing.T) {
	e := gprofngtest.New(filepath.Join(t.TempDir(), "a.er"))
	for i := range int64(4) {
		e.Overview(i*second/4, []int64{i * second / 4, i * second / 8}, []int64{i})
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	const size, user, faults = 504, 8 + 8*2*4, 8 + 8*2*20
	b, err := os.ReadFile(filepath.Join(e.Dir, "overview"))
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint64(b[2*size+user:], 1<<40)
	binary.LittleEndian.PutUint64(b[2*size+faults:], 1<<63)
	binary.LittleEndian.PutUint64(b[3*size+8:], 1<<62)
	if err := os.WriteFile(filepath.Join(e.Dir, "overview"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	rec := gprofng.New().Open(t.Context(), e.Dir)
	defer rec.Close()
	var users, faulted []int64
	for _, row := range rec.Processes[0].Overview {
		users, faulted = append(users, row.Times[1]), append(faulted, row.Counts[0])
		if row.T1NS > second {
			t.Errorf("a row ends at %d", row.T1NS)
		}
	}
	if d := cmp.Diff([]int64{second / 8, 0, second / 4}, users); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int64{1, 0, 2}, faulted); d != "" {
		t.Error(d)
	}
	want := []string{"overview 1: user is 9223372036854775807 ns,", "overview 1: minor_faults is -9223372036854775808,", "overview 1: the time of a record is 9223372036854775807 ns,"}
	if d := cmp.Diff(want, outOf(rec)); d != "" {
		t.Error(d)
	}
}

// Values that are large but possible stay: the recorded program asks for as much as is possible,
// and for more (testdata/gprofng/src/bounds.c).
func TestLargeValues(t *testing.T) {
	dir := t.TempDir()
	if err := corpus.Unpack(filepath.Join("..", "..", "..", "testdata", "gprofng", "bounds.tar.gz"), dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bounds.er", "bounds_kill.er"} {
		rec := gprofng.New().Open(t.Context(), filepath.Join(dir, "bounds", name))
		defer rec.Close()
		if told := outOf(rec); told != nil {
			t.Errorf("%s: %v", name, told)
		}
		p := rec.Processes[0]
		_, sizes := columnOf(t, p, schema.Heap, 1)
		for _, want := range []int64{1 << 62, -5, -100, 64 << 20, 1 << 45, 3 << 30} {
			if !slices.Contains(sizes, want) {
				t.Errorf("%s: no block of %d bytes: %d", name, want, sizes)
			}
		}
		if _, bytes := columnOf(t, p, schema.IO, 2); !slices.Contains(bytes, 3<<30) {
			t.Errorf("%s: no write of 3 GiB: %d", name, bytes)
		}
		times, requests := columnOf(t, p, schema.Sync, 0)
		if len(times) != 1 || times[0]-requests[0] < 2*second {
			t.Errorf("%s: no wait of 2 s: %d until %d", name, requests, times)
		}
	}
}
