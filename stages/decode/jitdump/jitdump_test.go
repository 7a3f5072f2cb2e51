package jitdump

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/decode"
)

// builder composes a dump.
type builder struct {
	order binary.AppendByteOrder
	b     []byte
}

func newDump(order binary.AppendByteOrder, pid uint32, time, flags int, mark uint32) *builder {
	w := &builder{order: order}
	w.b = w.words(uint32(magic), uint32(1), uint32(headerSize), uint32(62), mark, pid, time, flags)
	return w
}

func little(pid uint32) *builder { return newDump(binary.LittleEndian, pid, 1000, 0, 0) }

func (w *builder) words(vs ...any) (out []byte) {
	for _, v := range vs {
		switch v := v.(type) {
		case int:
			out = w.order.AppendUint64(out, uint64(v))
		case uint32:
			out = w.order.AppendUint32(out, v)
		case string:
			out = append(append(out, v...), 0)
		case []byte:
			out = append(out, v...)
		}
	}
	return out
}

func (w *builder) record(kind uint32, time int, vs ...any) *builder {
	body := w.words(vs...)
	w.b = append(append(w.b, w.words(kind, uint32(prefixSize+len(body)), time)...), body...)
	return w
}

func (w *builder) load(pid uint32, time, at int, name string, code ...byte) *builder {
	return w.record(recordLoad, time, pid, pid, at, at, len(code), 1, name, code)
}

func (w *builder) move(time, from, to, size int) *builder {
	return w.record(recordMove, time, uint32(7), uint32(7), to, from, to, size, 1)
}

// lines takes pairs of an address and a line, or a file name for the pairs after it.
func (w *builder) lines(time, at int, vs ...any) *builder {
	var body []any
	n := 0
	for i := 0; i < len(vs); i += 3 {
		body = append(body, vs[i].(int), uint32(vs[i+1].(int)), uint32(0), vs[i+2])
		n++
	}
	return w.record(recordDebug, time, append([]any{at, n}, body...)...)
}

// attach reads a dump into a process with pid 7, and describes its functions
// and the problems.
func attach(t *testing.T, content []byte, change func(*decode.Recording)) (functions, problems []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "jit-7.dump")
	if content != nil {
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := &decode.Process{Number: 1, PID: 7,
		JITDumps: []decode.JITDump{{Path: "/run/jit-7.dump", Mapped: 10, From: 10, Until: decode.Never}},
		Stacks:   decode.StacksOf(decode.RawStack{Words: []uint64{0x1001, 0x2004}}),
	}
	rec := &decode.Recording{
		Processes: []*decode.Process{p},
		Locate:    func(string) []decode.Candidate { return []decode.Candidate{{Path: path, Origin: "path"}} },
		Clock:     &decode.CompilerClock{Start: 1000, Monotonic: true},
	}
	if change != nil {
		change(rec)
	}
	for _, g := range Find(context.Background(), rec, rec) {
		g.Attach()
	}
	for _, e := range p.Mappings {
		switch {
		case e.Unmap:
			functions = append(functions, fmt.Sprintf("%d end %#x", e.Time, e.Address))
		case e.Code == nil:
			functions = append(functions, fmt.Sprintf("%d file %#x", e.Time, e.Address))
		default:
			s := fmt.Sprintf("%d %#x+%d %s", e.Time, e.Address, e.Size, e.Code.Function)
			if e.Code.Bytes != nil {
				s += fmt.Sprintf(" % x", e.Code.Bytes)
			}
			for _, l := range e.Code.Lines {
				s += fmt.Sprintf(" %s:%d@%d", l.File, l.Line, l.Offset)
			}
			functions = append(functions, s)
		}
	}
	for _, p := range rec.Problems.Problems {
		problems = append(problems, fmt.Sprintf("%s %s %d %s", p.Severity, p.File, p.Offset, p.Reason))
	}
	return functions, problems
}

// A function lives from its record until another function takes its place or it moves. Bytes and
// lines are kept if a stack contains an address in the function.
func TestLives(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		w := newDump(order, 7, 1000, 0, 0).
			lines(1019, 0x1000, 0x1000, 11, "a.x", 0x1002, 12, "\xff", 0x1001, 5, "b.x").
			load(7, 1020, 0x1000, "one", 1, 2, 3, 4).
			load(7, 1030, 0x2000, "two", 5, 6, 7, 8). // a return address right after its code is on a stack
			load(7, 1031, 0x3000, "far", 9).
			record(recordUnwinding, 1035, 0, 0, 0).
			load(7, 1040, 0x1000, "three [3]", 4, 3, 2).
			move(1050, 0x2000, 0x1800, 4).
			record(recordClose, 1060).
			record(77, 1070)
		got, problems := attach(t, w.b, nil)
		want := []string{
			"40 end 0x1000", "50 end 0x2000",
			"20 0x1000+4 one 01 02 03 04 a.x:11@0 b.x:5@1 a.x:12@2", "30 0x2000+4 two 05 06 07 08", "31 0x3000+1 far",
			"40 0x1000+3 three [3] 04 03 02", "50 0x1800+4 two 05 06 07 08",
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%v: %s", order, d)
		}
		if d := cmp.Diff([]string{"warning /run/jit-7.dump -1 unknown-record"}, problems); d != "" {
			t.Error(d)
		}
	}
}

// Code that a parent compiles after a fork is not in the child. Executing a program, or mapping a
// file over it, ends code.
func TestProcesses(t *testing.T) {
	w := little(7).load(7, 1020, 0x1000, "before", 1).load(7, 1040, 0x2000, "after", 2).load(9, 1045, 0x3000, "child's", 3)
	got, problems := attach(t, w.b, func(rec *decode.Recording) {
		p := rec.Processes[0]
		p.PID = 9
		p.JITDumps[0].From, p.JITDumps[0].Until = 30, 90
		p.Mappings = []decode.MapEvent{{Time: 5, Address: 0x800, Size: 0x1000, Path: "/bin/p"}, {Time: 60, Address: 0x800, Size: 0x1000, Path: "/lib/a.so"},
			{Time: 60, Address: 0x3000, Size: 0x1000, Path: decode.PerfMap(9)}}
	})
	want := []string{"60 end 0x1000", "90 end 0x3000", "5 file 0x800", "60 file 0x800", "60 file 0x3000", "30 0x1000+1 before 01", "45 0x3000+1 child's"}
	if d := cmp.Diff(want, got); d != "" || problems != nil {
		t.Error(d, problems)
	}
}

// Without a common clock, the first record counts as written when the file was mapped. If that time
// is unknown, functions have no times.
func TestClocks(t *testing.T) {
	other := func(rec *decode.Recording) { rec.Clock = nil }
	attached := func(rec *decode.Recording) {
		rec.Clock, rec.Processes[0].JITDumps[0].Mapped, rec.Processes[0].JITDumps[0].From = nil, 0, 0
	}
	content := func(time, flags int) []byte {
		return newDump(binary.LittleEndian, 7, time, flags, 0).load(7, 5000, 0x1000, "one", 1).load(7, 5030, 0x1000, "two", 2).b
	}
	for _, c := range []struct {
		name    string
		content []byte
		change  func(*decode.Recording)
		want    string
	}{
		{"same clock", content(1000, 0), nil, "4030 end 0x1000; 4000 0x1000+1 one 01; 4030 0x1000+1 two 02"},
		{"header", content(4990, 0), other, "50 end 0x1000; 20 0x1000+1 one 01; 50 0x1000+1 two 02; jitdump-clock"},
		{"header of another clock", content(1<<60, 0), other, "40 end 0x1000; 10 0x1000+1 one 01; 40 0x1000+1 two 02; jitdump-clock"},
		{"cycles", content(4990, flagCycles), nil, "10 0x1000+1 one 01; 10 0x1000+1 two 02; jitdump-clock"},
		{"unknown mapping", content(4990, 0), attached, "0 0x1000+1 one 01; 0 0x1000+1 two 02; jitdump-clock"},
		{"another process's", content(1000, 0), func(rec *decode.Recording) { rec.Processes[0].JITDumps[0].Mapped = 10 * second }, "wrong-jitdump"},
	} {
		got, problems := attach(t, c.content, c.change)
		for _, p := range problems {
			got = append(got, p[strings.LastIndexByte(p, ' ')+1:])
		}
		if d := cmp.Diff(c.want, strings.Join(got, "; ")); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestDamage(t *testing.T) {
	good := little(7).load(7, 1020, 0x1000, "one", 1)
	behind := len(good.b)
	with := func(f func(*builder)) []byte {
		w := &builder{good.order, slices.Clone(good.b)}
		f(w)
		return w.b
	}
	for _, c := range []struct {
		name      string
		content   []byte
		functions int
		problem   string
	}{
		{"missing", nil, 0, "warning /run/jit-7.dump -1 missing-jitdump"},
		{"empty", []byte{}, 0, "warning /run/jit-7.dump 0 bad-jitdump"},
		{"no dump", make([]byte, 100), 0, "warning /run/jit-7.dump 0 bad-jitdump"},
		{"header cut", good.b[:30], 0, "warning /run/jit-7.dump 0 bad-jitdump"},
		{"version", slices.Concat(good.b[:4], []byte{9}, good.b[5:]), 0, "warning /run/jit-7.dump 0 bad-jitdump"},
		{"header size", slices.Concat(good.b[:8], []byte{255, 255}, good.b[10:]), 0, "warning /run/jit-7.dump 0 bad-jitdump"},
		{"cut record", with(func(w *builder) { w.load(7, 1021, 0x2000, "two", 2); w.b = w.b[:len(w.b)-3] }), 1, fmt.Sprintf("warning /run/jit-7.dump %d cut-jitdump", behind)},
		{"small record", with(func(w *builder) { w.b = append(w.b, w.words(uint32(0), uint32(15), 1021, 0, 0)...) }), 1, fmt.Sprintf("warning /run/jit-7.dump %d bad-jitdump", behind)},
		{"short load", with(func(w *builder) { w.record(recordLoad, 1021, 1, 2).load(7, 1022, 0x2000, "two", 2) }), 2, fmt.Sprintf("warning /run/jit-7.dump %d bad-jitdump", behind)},
		{"no code", with(func(w *builder) { w.load(7, 1021, 0x3000, "none") }), 1, fmt.Sprintf("warning /run/jit-7.dump %d bad-jitdump", behind)},
		{"move of nothing", with(func(w *builder) { w.move(1021, 0x5000, 0x6000, 1) }), 1, fmt.Sprintf("warning /run/jit-7.dump %d bad-jitdump", behind)},
		{"move of a part", with(func(w *builder) { w.load(7, 1020, 0x5000, "two", 1, 2, 3).move(1021, 0x5000, 0x6000, 2) }), 2, fmt.Sprintf("warning /run/jit-7.dump %d bad-jitdump", behind+len(little(7).load(7, 1020, 0x5000, "two", 1, 2, 3).b)-len(little(7).b))},
		{"lines", with(func(w *builder) {
			w.record(recordDebug, 1021, 0x2000, 1<<60, 0x2000, uint32(1), uint32(0), "a.x").load(7, 1022, 0x2000, "two", 2, 2, 2, 2)
		}), 2, "warning /run/jit-7.dump -1 jitdump-lines"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, problems := attach(t, c.content, nil)
			if len(got) != c.functions || len(problems) != 1 || problems[0] != c.problem {
				t.Errorf("%d functions, problems %q; want %d, %q", len(got), problems, c.functions, c.problem)
			}
		})
	}
}

// V8 gives lines the addresses that they would have after an ELF header.
func TestV8Lines(t *testing.T) {
	w := newDump(binary.LittleEndian, 7, 1<<60, 0, v8Mark).
		lines(1019, 0x1000, 0x1040, 3, "a.js", 0x1042, 4, "a.js", 0x1044, 5, "a.js"). // the last one is behind the code
		load(7, 1020, 0x1000, "*f", 1, 2, 3).
		lines(1021, 0x2000, 0x2040, 1, "A\xd6\x01", 0x2041, 1, "x.js").
		load(7, 1022, 0x2000, "*g", 1, 2, 3, 4)
	got, problems := attach(t, w.b, nil)
	want := []string{"20 0x1000+3 *f 01 02 03 a.js:3@0 a.js:4@2", "22 0x2000+4 *g 01 02 03 04"}
	if d := cmp.Diff(want, got); d != "" || !slices.Equal(problems, []string{"warning /run/jit-7.dump -1 jitdump-lines"}) {
		t.Error(d, problems)
	}
}

func FuzzAttach(f *testing.F) {
	f.Add(little(7).lines(1, 0x1000, 0x1000, 1, "a").load(7, 1020, 0x1000, "one", 1, 2).move(1030, 0x1000, 0x2000, 2).b)
	f.Add(newDump(binary.BigEndian, 9, 1<<60, 1, v8Mark).load(9, 2, 0x2000, "", 1).record(recordClose, 3).b)
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "jit-7.dump")
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		for _, mapped := range []int64{0, 10} {
			p := &decode.Process{PID: 7, JITDumps: []decode.JITDump{{Path: path, Mapped: mapped, From: 10, Until: 1 << 40}}, Stacks: decode.StacksOf(decode.RawStack{Words: []uint64{0x1000}})}
			rec := &decode.Recording{Processes: []*decode.Process{p}, Locate: func(p string) []decode.Candidate { return []decode.Candidate{{Path: p}} }}
			for _, g := range Find(context.Background(), rec, rec) {
				g.Attach()
			}
			for _, e := range p.Mappings {
				if c := e.Code; c != nil && (e.Size == 0 || uint64(len(c.Bytes)) > e.Size || e.Time < 10) {
					t.Errorf("%+v with %d bytes", e, len(c.Bytes))
				}
			}
		}
	})
}

// Call frame information belongs to the function in the next record. It is kept if stacks must
// still be unwound.
func TestUnwinding(t *testing.T) {
	w := little(7).
		record(recordUnwinding, 1015, 12, 4, 0, []byte("eh_frameHDR ")).
		load(7, 1020, 0x1000, "one", 1).
		load(7, 1030, 0x2000, "two", 2).
		record(recordUnwinding, 1035, 13, 4, 0, []byte("eh_frameHDR ")).
		record(recordUnwinding, 1036, 8, 9, 0, []byte("eh_frameHDR ")).
		record(recordUnwinding, 1037, 8).
		load(7, 1040, 0x3000, "three", 3)
	for _, dumps := range []decode.Dumps{nil, struct{ decode.Dumps }{}} {
		var p *decode.Process
		_, problems := attach(t, w.b, func(rec *decode.Recording) { p = rec.Processes[0]; p.Dumps = dumps })
		var got []string
		for _, m := range p.Mappings {
			got = append(got, m.Code.Function+" "+string(m.Code.Unwinding))
		}
		want := []string{"one ", "two ", "three "}
		if dumps != nil {
			want[0] = "one eh_frame"
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if len(problems) != 3 || !strings.HasSuffix(problems[0], "bad-jitdump") {
			t.Error(problems)
		}
	}
}
