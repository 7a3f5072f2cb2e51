package perfdata

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/google/go-cmp/cmp"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
)

// weighed adds a sample of thread 5 with a period and a weight.
func (b *builder) weighed(time, period, weight uint64) {
	b.record(recordSample, miscUser, uint64(0x4010), uint32(5), uint32(5), time, period, uint64(2), uint64(user), uint64(0x4010), weight)
}

// openFile opens the content of a recording.
func openFile(t *testing.T, content []byte) *decode.Recording {
	t.Helper()
	path := filepath.Join(t.TempDir(), "perf.data")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	rec := New().Open(t.Context(), path)
	t.Cleanup(func() { rec.Close() })
	return rec
}

// payloadOf returns the times of all samples and the values of a payload column.
func payloadOf(t *testing.T, rec *decode.Recording, column int) (times, values []int64) {
	t.Helper()
	for _, p := range rec.Processes {
		events := p.Events(schema.Perf)
		b, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		times = append(times, b.Column(schema.EventTime).(*array.Int64).Int64Values()...)
		values = append(values, b.Column(schema.EventPayloadStart+column).(*array.Int64).Int64Values()...)
		b.Release()
		events.Close()
	}
	return times, values
}

// outOf lists the problems: count, and what is out of bounds.
func outOf(rec *decode.Recording) (list []string) {
	for _, p := range rec.Problems.Problems {
		if p.Reason != "value-out-of-bounds" || p.Severity != diagnostic.Error || p.Offset <= 0 || p.File != "perf.data" {
			list = append(list, "another problem: "+p.String())
			continue
		}
		what, _, _ := strings.Cut(p.Message, ", which")
		list = append(list, fmt.Sprintf("%d: %s", p.Count, what))
	}
	return list
}

const (
	columnPeriod = 1
	columnWeight = 3
	ms           = uint64(1e6)
)

// A period that a sample cannot have is left out and reported; possible ones stay, however large.
func TestPeriodsOutOfBounds(t *testing.T) {
	const boot = 1000 * 1000 * ms // the clock began before the recording
	type of struct {
		typ    uint32
		config uint64
	}
	clock, instructions, faults, tracepoint := of{typeSoftware, 0}, of{typeHardware, 1}, of{typeSoftware, 2}, of{typeTracepoint, 7}
	for _, tt := range []struct {
		name    string
		event   of
		freq    bool
		period  uint64 // of the attr
		periods []uint64
		want    []int64
		told    []string
	}{
		{"a clock", clock, true, 1000, []uint64{ms, ms, 1 << 63, 1 << 40, ms}, []int64{1e6, 1e6, 0, 0, 1e6}, []string{"2: the period of a sample of cpu-clock:HG is 9223372036854775808"}},
		{"a slow clock whose recording began with its first sample", clock, false, 3600 * 1000 * ms, []uint64{3600 * 1000 * ms}, []int64{3600e9}, nil},
		{"a counter", instructions, true, 1000, []uint64{1, 5e6, 1 << 55, 640 * ms, 1 << 63}, []int64{1, 5e6, 0, 640e6, 0}, []string{"2: the period of a sample of instructions:HG is 36028797018963968"}},
		{"a counter that the kernel missed", instructions, true, 100000, []uint64{1, 1, 1, 600 * 3 * ms}, []int64{1, 1, 1, 1800e6}, nil},
		{"a counter with a large period", instructions, false, 1e13, []uint64{1e13}, []int64{1e13}, nil},
		{"counters that have their period", faults, false, 1, []uint64{1, 1, 1, 7, 1 << 62}, []int64{1, 1, 1, 7, 0}, []string{"1: the period of a sample of page-faults:HG is 4611686018427387904"}},
		{"a tracepoint of a wait since before", tracepoint, false, 1, []uint64{900 * 1000 * ms, 5, math.MaxUint64}, []int64{900e9, 5, 0}, []string{"1: the period of a sample of event-2-0x7:HG is 18446744073709551615"}},
	} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			t.Run(fmt.Sprint(tt.name, " ", order), func(t *testing.T) {
				b := &builder{order: order, more: samplePeriod | sampleWeight, typ: &tt.event.typ, config: tt.event.config, period: tt.period}
				if tt.freq {
					b.flags = flagFreq
				}
				for i, period := range tt.periods {
					b.weighed(boot+uint64(i)*ms, period, 0)
				}
				rec := openFile(t, b.file())
				if _, got := payloadOf(t, rec, columnPeriod); !cmp.Equal(tt.want, got) {
					t.Error(cmp.Diff(tt.want, got))
				}
				if d := cmp.Diff(tt.told, outOf(rec)); d != "" {
					t.Error(d)
				}
			})
		}
	}
}

// The fixed period in an event's attribute is used for all samples, unless the recording is too
// short for so many samples with that period.
func TestAttributePeriods(t *testing.T) {
	for _, tt := range []struct {
		period  uint64
		samples int
		each    int64
	}{
		{1e15, 1, 1e15}, {1e6, 3, 1e6}, {1 << 55, 3, 0}, {1 << 63, 1, 0}, {1 << 63, 3, 0},
	} {
		hardware := uint32(typeHardware)
		b := &builder{order: binary.LittleEndian, typ: &hardware, period: tt.period}
		var want []int64
		for i := range tt.samples {
			b.at(5, miscUser, 1e9+i*1e6, 0x4010, user, 0x4010)
			want = append(want, tt.each)
		}
		rec := openFile(t, b.file())
		_, got := payloadOf(t, rec, columnPeriod)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%d samples of %d: %s", tt.samples, tt.period, d)
		}
		if told := len(rec.Problems.Problems); told > 0 != (tt.each == 0) {
			t.Error(rec.Problems.Problems)
		}
	}
}

// A weight is the duration of one memory access in cycles. A weight longer than the recording is
// left out.
func TestWeightsOutOfBounds(t *testing.T) {
	b := &builder{order: binary.LittleEndian, more: samplePeriod | sampleWeight}
	for i, weight := range []uint64{400, 1 << 60, 1 << 30} {
		b.weighed(1000*ms+uint64(i)*ms, 1000, weight)
	}
	rec := openFile(t, b.file())
	_, got := payloadOf(t, rec, columnWeight)
	if d := cmp.Diff([]int64{400, 0, 1 << 30}, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"1: the weight of a sample is 1152921504606846976 cycles"}, outOf(rec)); d != "" {
		t.Error(d)
	}
}

// Samples and other records with a time outside of the recording get the time of the record before;
// the recorded time range of samples, if any, decides.
func TestTimesOutOfBounds(t *testing.T) {
	const start = 3e12
	for _, tt := range []struct {
		name        string
		first, last uint64
		told        []string
		times       []int64
	}{
		{"nothing is said", 0, 0, []string{"3: the time of a sample is 1152921504606846976 ns", "1: the time of a record is 1 ns"}, []int64{0, 1e6, 1e6, 1e6, 1e6, 2e6, 3e6, 4e6, 5e6, 1e12}},
		{"first and last", start, start + 5*ms, []string{"4: the time of a sample is 1152921504606846976 ns", "1: the time of a record is 1 ns"}, []int64{0, 1e6, 1e6, 1e6, 1e6, 2e6, 3e6, 4e6, 4e6, 5e6}},
		{"wrong ones", 5, 6, []string{"3: the time of a sample is 1152921504606846976 ns", "1: the time of a record is 1 ns"}, []int64{0, 1e6, 1e6, 1e6, 1e6, 2e6, 3e6, 4e6, 5e6, 1e12}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := &builder{order: binary.LittleEndian}
			b.mmap(5, start, 0x4000, "/bin/first")
			for i, time := range []int{start, start + 1e6, 1 << 60, 77, -1, start + 2e6, start + 3e6, start + 4e6, start + 1e12, start + 5e6} {
				if i == 1 {
					b.mmap(5, 1, 0x5000, "/bin/second")
				}
				b.at(5, miscUser, time, 0x4010, user, 0x4010)
			}
			if tt.first != 0 {
				b.features = append(b.features, testFeature{featureTimes, b.words(tt.first, tt.last)})
			}
			rec := openFile(t, b.file())
			times, _ := payloadOf(t, rec, columnPeriod)
			if d := cmp.Diff(tt.times, times); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(tt.told, outOf(rec)); d != "" {
				t.Error(d)
			}
			if p := rec.Processes[0]; p.DurationNS > 1e12 || p.StartNS != 0 || p.Mappings[1].Time != 0 {
				t.Errorf("from %d for %d ns, mapped at %d", p.StartNS, p.DurationNS, p.Mappings[1].Time)
			}
		})
	}
}

// An impossible reading of a counter is left out, and only that: the next reading counts from the
// one before it. Samples without readings keep their period.
func TestReadingsOutOfBounds(t *testing.T) {
	hardware := &event{attr: attr{typ: typeHardware, sampleType: sampleRead, readFormat: readID | readEnabled}, name: "cycles"}
	inherited := &event{attr: attr{typ: typeHardware, sampleType: sampleRead, readFormat: readID | readEnabled, flags: flagInherit}, name: "cycles"}
	b := &builder{order: binary.LittleEndian}
	const enabled = 1000 * 1000
	for _, tt := range []struct {
		name string
		e    *event
		tids []int32
		read []uint64
		want []int64
		told int
	}{
		{"one wrong", hardware, []int32{1, 1, 1, 1}, []uint64{100, 1 << 63, 150, 170}, []int64{100, 50, 20}, 1},
		{"all too large but one", hardware, []int32{1, 1, 1, 1}, []uint64{1e8, 100, 150, 170}, []int64{1e8, 50, 20}, 1},
		{"one for each thread", inherited, []int32{1, 2, 1, 2}, []uint64{1000, 10, 1100, 30}, []int64{1000, 10, 100, 20}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &reader{recordParser: recordParser{rec: &decode.Recording{}, events: []*event{tt.e}, byID: map[uint64]int32{71: 0}}}
			last := counterValues{}
			rows := newRowBatch(len(tt.read), 0)
			for i, value := range tt.read {
				r.addCounterRows(last, &sample{tid: tt.tids[i], values: b.words(value, enabled, 71)}, &sampleRef{time: 2 * enabled}, row{}, &rows)
			}
			if d := cmp.Diff(tt.want, rows.wide[rowPeriod]); d != "" {
				t.Error(d)
			}
			told := int64(0)
			for i := range r.limits.outliers {
				r.limits.outliers[i].Report(func(_ diagnostic.Severity, _ int64, _, _ string, count int64) { told += count })
			}
			if told != int64(tt.told) {
				t.Errorf("%d are told", told)
			}
		})
	}
}

// A mapping that is longer than the process's memory would own everything after it.
func TestMappingsOutOfBounds(t *testing.T) {
	b := &builder{order: binary.LittleEndian}
	b.feature(featureArch, "x86_64")
	for i, size := range []int{0x1000, 1 << 50, 0x2000} {
		b.record(recordMmap, miscUser, uint32(5), uint32(5), 0x10000*(i+1), size, 0, fmt.Sprint("/bin/", i), uint32(5), uint32(5), 0)
	}
	b.at(5, miscUser, 10, 0x4010, user, 0x4010)
	rec := openFile(t, b.file())
	var paths []string
	for _, m := range rec.Processes[0].Mappings {
		paths = append(paths, m.Path)
	}
	if d := cmp.Diff([]string{"/bin/0", "/bin/2"}, paths); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"1: the size of a mapping is 1125899906842624 bytes"}, outOf(rec)); d != "" {
		t.Error(d)
	}
}

// Counts of lost records do not overflow, and a trace that is longer than the file
// does not hide the records after it.
func TestCountsOutOfBounds(t *testing.T) {
	b := &builder{order: binary.LittleEndian}
	b.at(5, miscUser, 10, 0x4010, user, 0x4010)
	for range 3 {
		b.record(recordLost, 0, 1, uint64(math.MaxInt64), uint32(5), uint32(5), 10)
	}
	b.record(recordAuxtrace, 0, 1<<61, 0, 0, 0, 0)
	b.at(5, miscUser, 11, 0x4010, user, 0x4010)
	rec := openFile(t, b.file())
	told := map[string]int64{}
	for _, p := range rec.Problems.Problems {
		told[p.Reason] = p.Count
	}
	if told["lost-records"] != math.MaxInt64 || told["bad-record"] != 1 || rec.Processes[0].Records(schema.Perf) != 2 {
		t.Error(rec.Problems.Problems)
	}
}
