package perfdata

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/unwind"
)

// builder composes recordings of one event. Its samples have IP, TID, TIME, CALLCHAIN and the
// fields in more.
type builder struct {
	order binary.AppendByteOrder
	data  []byte
	more  uint64 // bits of sample_type
	regs  uint64 // the mask of user registers

	// Fields of the attr. nil and 0 mean cpu-clock with a period of 1000. flags has the bits of a
	// little-endian recording.
	typ                   *uint32
	config, period, flags uint64

	branchType, readFormat uint64
	features               []testFeature // by their bits
}

type testFeature struct {
	bit     int
	payload []byte
}

// feature adds a feature that consists of numbers and texts.
func (b *builder) feature(bit int, vs ...any) {
	var out []byte
	for _, v := range vs {
		switch v := v.(type) {
		case int:
			out = b.order.AppendUint32(out, uint32(v))
		case string:
			out = append(b.order.AppendUint32(out, uint32(len(v))), v...)
		}
	}
	b.features = append(b.features, testFeature{bit, out})
}

const tinyType = sampleIP | sampleTID | sampleTime | sampleCallchain

func (b *builder) words(vs ...any) []byte {
	var out []byte
	for _, v := range vs {
		switch v := v.(type) {
		case uint64:
			out = b.order.AppendUint64(out, v)
		case int:
			out = b.order.AppendUint64(out, uint64(v))
		case uint32:
			out = b.order.AppendUint32(out, v)
		case uint16:
			out = b.order.AppendUint16(out, v)
		case string:
			out = append(out, v...)
			out = append(out, make([]byte, 8-len(v)%8)...)
		}
	}
	return out
}

func (b *builder) record(typ uint32, misc uint16, vs ...any) {
	body := b.words(vs...)
	b.data = append(append(b.data, b.words(typ, misc, uint16(8+len(body)))...), body...)
}

// mmap maps 0x1000 bytes of code; times are those of the trailer: TID, TIME.
func (b *builder) mmap(pid uint32, time, addr int, path string) {
	b.record(recordMmap, miscUser, pid, pid, addr, 0x1000, 0, path, pid, pid, time)
}

func (b *builder) sample(pid uint32, time int, chain ...any) {
	b.record(recordSample, miscUser, append([]any{chain[1], pid, pid, time, len(chain)}, chain...)...)
}

// file returns the recording.
func (b *builder) file() []byte {
	magic := "PERFILE2"
	flags := b.flags | flagSampleIDAll
	if b.order == binary.AppendByteOrder(binary.BigEndian) {
		magic, flags = "2ELIFREP", mirrored(flags)
	}
	typ, period := uint32(typeSoftware), uint64(1000)
	if b.typ != nil {
		typ = *b.typ
	}
	if b.period != 0 {
		period = b.period
	}
	attr := b.words(typ, uint32(104), b.config, period, tinyType|b.more, b.readFormat, flags, uint32(0), uint32(0), 0, 0, b.branchType, b.regs, uint32(0), uint32(0), 0)
	attr = append(attr, b.words(0, 0)...) // no ids
	var bits [4]uint64
	index, payloads := []byte(nil), []byte(nil)
	for _, f := range b.features {
		bits[f.bit/64] |= 1 << (f.bit % 64)
		index = append(index, b.words(headerSize+len(attr)+len(b.data)+16*len(b.features)+len(payloads), len(f.payload))...)
		payloads = append(payloads, f.payload...)
	}
	out := append([]byte(magic), b.words(headerSize, len(attr), headerSize, len(attr), headerSize+len(attr), len(b.data), 0, 0, bits[0], bits[1], bits[2], bits[3])...)
	return slices.Concat(out, attr, b.data, index, payloads)
}

const user = ^uint64(0) - 511 // the marker in front of a user chain

// tiny returns a recording of a process that forks; parent and child execute a second program.
func tiny(big bool) []byte {
	if big {
		return recording(binary.BigEndian).file()
	}
	return recording(binary.LittleEndian).file()
}

func recording(order binary.AppendByteOrder) *builder {
	b := &builder{order: order}
	comm := func(pid uint32, misc uint16, time int, name string) {
		b.record(recordComm, misc, pid, pid, name, pid, pid, time)
	}
	comm(10, 0, 0, "sh")
	b.mmap(10, 0, 0x10000, "/bin/sh")
	b.sample(10, 1000, user, 0x10010, 0x10100)
	b.record(recordFork, 0, uint32(11), uint32(10), uint32(11), uint32(10), 2000, uint32(10), uint32(10), 2000)
	b.sample(11, 2500, user, 0x10020)
	comm(11, miscExec, 3000, "ls")
	b.sample(11, 3500, user, 0x10030) // no mapping any more
	b.mmap(11, 3200, 0x20000, "/bin/ls")
	b.sample(11, 3600, user, 0x20040)
	b.sample(10, 1500, user, 0x10010, 0x10100) // later in the file, but earlier in time
	return b
}

func TestTiny(t *testing.T) {
	for _, big := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "perf.data")
		if err := os.WriteFile(path, tiny(big), 0o644); err != nil {
			t.Fatal(err)
		}
		rec := New().Open(t.Context(), path)
		var got []string
		for _, p := range rec.Processes {
			got = append(got, fmt.Sprintf("%d: pid %d of %d, %s, from %d", p.Number, p.PID, p.PPID, p.Target, p.StartNS))
			for _, m := range p.Mappings {
				got = append(got, fmt.Sprintf("  at %d %#x %s unmap %t", m.Time, m.Address, m.Path, m.Unmap))
			}
			got = append(got, samplesOf(t, p, nil)...)
			if file := p.File(decode.MapFile); file != "." {
				t.Errorf("problems of process %d name %s, which perf does not write", p.Number, file)
			}
		}
		want := []string{
			"1: pid 10 of 0, sh, from 0", "  at 0 0x10000 /bin/sh unmap false",
			"  0 [0x10010 0x10100] 1000", "  500 [0x10010 0x10100] 1000",
			"2: pid 11 of 10, ls, from 1000", "  at 1000 0x10000 /bin/sh unmap false", "  at 2000 0x10000  unmap true", "  at 2200 0x20000 /bin/ls unmap false",
			"  1500 [0x10020] 1000", "  2500 [0x10030] 1000", "  2600 [0x20040] 1000",
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("big endian %t: (-want +got)\n%s", big, d)
		}
		if len(rec.Problems.Problems) > 0 {
			t.Error(rec.Problems.Problems)
		}
		if err := rec.Close(); err != nil {
			t.Error(err)
		}
	}
}

// samplesOf lists a process's samples: time, stack and period. completed has its
// stacks if it has dumps.
func samplesOf(t *testing.T, p *decode.Process, completed *unwind.CompleteStacks) (list []string) {
	t.Helper()
	events := p.Events(schema.Perf)
	defer events.Close()
	b, err := events.Next()
	if err != nil {
		t.Fatal(err)
	}
	if completed != nil {
		b = completed.Events(b)
	}
	defer b.Release()
	e := schema.Events{RecordBatch: b}
	times, stacks, periods := e.Int64s("time_ns"), e.Int32s("raw_stack"), e.Int64s("period")
	all := p.Stacks.Expanded()
	for i := range times {
		list = append(list, fmt.Sprintf("  %d %#x %d", times[i], all[stacks[i]].Words, periods[i]))
	}
	return list
}

// The kernel and user parts of a chain are distinguished. A chain as long as the kernel's limit
// lacks its root.
func TestStacks(t *testing.T) {
	const kernel = ^uint64(0) - 127
	b := &builder{order: binary.LittleEndian}
	long := []any{user}
	for i := range chainLimit {
		long = append(long, 0x1000+i)
	}
	b.sample(1, 1, kernel, uint64(0xffffffff81000010), uint64(0xffffffff81000100), user, 0x4010, 0x4100)
	b.sample(1, 2, long...)
	path := filepath.Join(t.TempDir(), "perf.data")
	if err := os.WriteFile(path, b.file(), 0o644); err != nil {
		t.Fatal(err)
	}
	rec := New().Open(t.Context(), path)
	defer rec.Close()
	stacks := rec.Processes[0].Stacks.Expanded()
	if s := stacks[0]; s.Kernel != 2 || !slices.Equal(s.Words, []uint64{0xffffffff81000010, 0xffffffff81000100, 0x4010, 0x4100}) {
		t.Errorf("%d kernel frames in %#x", s.Kernel, s.Words)
	}
	if s := stacks[1]; len(s.Words) != chainLimit+1 || s.Words[chainLimit] != decode.MarkTruncated {
		t.Errorf("%d words", len(s.Words))
	}
}

// The values of a group's counters are totals; samples count the increments.
func TestGroup(t *testing.T) {
	e := &event{attr: attr{sampleType: sampleRead, readFormat: readGroup | readID | readEnabled}}
	r := &reader{recordParser: recordParser{rec: &decode.Recording{}, events: []*event{e, e}, byID: map[uint64]int32{71: 0, 72: 1}}}
	b := &builder{order: binary.LittleEndian}
	last := counterValues{}
	var got []string
	for _, values := range [][2]int{{100, 5}, {130, 5}, {130, 9}} {
		s := &sample{values: b.words(2, 1000, values[0], 71, values[1], 72)}
		rows := newRowBatch(2, 0)
		r.addCounterRows(last, s, &sampleRef{}, row{}, &rows)
		for i, period := range rows.wide[rowPeriod] {
			got = append(got, fmt.Sprintf("%d +%d", rows.narrow[rowEvent][i], period))
		}
		got = append(got, "-")
	}
	if d := cmp.Diff([]string{"0 +100", "1 +5", "-", "0 +30", "-", "1 +4", "-"}, got); d != "" {
		t.Error(d)
	}
}

// A counter that shared the hardware with others is scaled up to the whole time.
func TestMultiplexed(t *testing.T) {
	for _, c := range []struct {
		name      string
		last, now counterReading
		want      uint64
	}{
		{"alone", counterReading{10, 100, 100}, counterReading{40, 200, 200}, 30},
		{"a third of the time", counterReading{10, 100, 100}, counterReading{40, 400, 200}, 90},
		{"times not recorded", counterReading{value: 10}, counterReading{value: 40}, 30},
		{"never on the hardware", counterReading{10, 100, 100}, counterReading{10, 400, 100}, 0},
	} {
		if got := c.now.since(c.last); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// Events with different limits of chain length do not share a stack that is cut for one of them
// only.
func TestChainLimits(t *testing.T) {
	recorded := (&builder{order: binary.LittleEndian}).words(user, 0x1000, 0x2000)
	r := &reader{recordParser: recordParser{events: []*event{{attr: attr{maxStack: 2}}, {attr: attr{maxStack: chainLimit}}}}}
	for e, want := range []string{decode.ReasonChainLimit, ""} {
		s := (&stackReader{reader: r}).stack(&sample{event: int32(e), ip: 0x1000, chain: recorded}, miscUser)
		if s.Reason != want {
			t.Errorf("event %d: %q, want %q", e, s.Reason, want)
		}
	}
}
