package pprof

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
)

// folded returns the stacks of a profile in an older format with their values, root first, as
// `main;f 3 30`.
func folded(t *testing.T, content []byte) (list []string) {
	t.Helper()
	rec := open(t, "x", content)
	if len(rec.Processes) == 0 {
		t.Fatal(shown(rec))
	}
	image := rec.Processes[0].Mappings
	stacks := rec.Processes[0].Stacks.Expanded()
	values := map[string]string{}
	for line := range strings.Lines(shown(rec)) {
		var stack, typ, value int
		if n, _ := fmt.Sscanf(line, "stack %d type %d value %d", &stack, &typ, &value); n < 3 {
			continue
		}
		var names []string
		for _, w := range slices.Backward(stacks[stack].Words) {
			for _, m := range image {
				if n := m.Code.Symbols; w-m.Address < uint64(len(n.Locations)) {
					for _, l := range n.Locations[w-m.Address].Lines {
						names = append(names, fmt.Sprintf("%s:%d", n.Functions[l.Function].Name, l.Line))
					}
				}
			}
		}
		values[strings.Join(names, ";")] += fmt.Sprint(" ", value)
	}
	for stack, v := range values {
		list = append(list, stack+v)
	}
	slices.Sort(list)
	return list
}

// Older formats that have the names of functions are read; inlined functions are levels.
func TestLegacy(t *testing.T) {
	java := packedWords(0, 3, 1, 10000, 0 /* samples */, 2, 2, 5, 6, 1, 1, 6 /* the end */, 0, 1, 0)
	java = append(java, "\n 0x00000005 com.example.Work.inner (Work.java:12)\n 0x00000006 com.example.Main.main (Main.java:3)\n"...)
	cpu := packedWords(0, 3, 0, 10000, 0 /* samples */, 3, 2, 0x401000, 0x402005, 1, 2, 0x401000, 0x403009 /* the end */, 0, 1, 0)
	raw := append([]byte("--- symbol\nbinary=/bin/app\n0x0000000000401000 step--loop\n0x0000000000402004 A::operator--(int)\n0x0000000000403009 main\n---\n--- profile ---\n"), cpu...)
	heap := "heap profile: 3: 30 [4: 40] @ heap/1\n3: 30 [4: 40] @ 0x1001 0x2002\n#\t0x1000\tmain.inlined+0x10\t/src/a.go:7\n#\t0x1000\tmain.f+0x20\t\t/src/a.go:20\n#\t0x2001\tmain.main+0x1\t/src/a.go:30\n\n# runtime.MemStats\n# Alloc = 1\n"
	for name, c := range map[string]struct {
		content []byte
		want    []string
	}{
		"Java":         {java, []string{"com.example.Main.main:3 1 10000000", "com.example.Main.main:3;com.example.Work.inner:12 2 20000000"}},
		"with symbols": {raw, []string{"A::operator--(int):0;loop:0;step:0 3 30000000", "main:0;loop:0;step:0 1 10000000"}},
		"Go's text":    {[]byte(heap), []string{"main.main:30;main.f:20;main.inlined:7 4 40 3 30"}},
	} {
		if got := folded(t, c.content); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// Profiles of addresses alone are read: the load objects are known, and missing names are reported.
func TestAddressesAlone(t *testing.T) {
	maps := "00400000-00401000 r-xp 00000000 00:00 1 /bin/app\n"
	cpu := append(packedWords(0, 3, 0, 10000, 0, 2, 2, 0x400010, 0x400021, 1, 1, 0x400010, 0, 1, 0), maps...)
	heap := "heap profile: 3: 30 [4: 40] @ heap_v2/1\n3: 30 [4: 40] @ 0x400011 0x400021\nMAPPED_LIBRARIES:\n" + maps
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"gperftools": {cpu, "stack 0 : [/bin/app +0x10 <static>@0x0()  from 0:0] [/bin/app +0x20 <static>@0x0()  from 0:0], 2 frames\n"},
		"jemalloc":   {[]byte(heap), "stack 0 : [/bin/app +0x10 <static>@0x0()  from 0:0] [/bin/app +0x20 <static>@0x0()  from 0:0], 2 frames\n"},
	} {
		got := shown(open(t, "x", c.content))
		if !strings.Contains(got, c.want) || !strings.Contains(got, "info: .: locations have addresses but no functions") {
			t.Errorf("%s: no %sin\n%s", name, c.want, got)
		}
	}
}

// A problem counts the functions that pprof drops, not the expressions that select them.
func TestHiddenFunctions(t *testing.T) {
	for expression, want := range map[string]int64{"ma.*": 1, "ain": 0, "main|inlined": 2, "(": 0} {
		x, err := newIndex(t.Context(), example(func(b *builder) {
			b.number(fieldDropFrames, uint64(len(texts))).bytes(fieldString, []byte(expression))
		}))
		if err != nil {
			t.Fatal(err)
		}
		if got := x.droppedFunctions(); got != want {
			t.Errorf("%s: %d, want %d", expression, got, want)
		}
	}
}

// park is a function that is on a stack when this program's profile is written.
//
//go:noinline
func park(from func(int) []byte) []byte { return from(1) }

// The text that Go's runtime writes today has the same functions as its profile.proto.
func TestGoText(t *testing.T) {
	content := park(func(debug int) []byte {
		var out bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&out, debug); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	})
	if !isLegacy(content) || !slices.ContainsFunc(folded(t, content), func(s string) bool { return strings.Contains(s, "testing.tRunner:") }) {
		t.Errorf("no stack of this test in the text of %s\n%s", runtime.Version(), content[:min(len(content), 2000)])
	}
}

// FuzzLegacy reads damaged profiles in older formats without panics.
func FuzzLegacy(f *testing.F) {
	f.Add(binary.LittleEndian.AppendUint64(packedWords(0, 3, 1, 10000, 0, 2, 1, 5, 0, 1, 0), 7))
	f.Add([]byte("--- symbol\n0x1 a--b\n---\nheap profile: 1: 1 [1: 1] @ heap/1\n1: 1 [1: 1] @ 0x1\n#\t0x1\tf+0x1\ta.go:1\n"))
	f.Add([]byte("--- contentionz 1 ---\nformat = java\nresolution = us\nsampling period = 100\nms since reset = 6019923\n            1     1 @ 0x00000003 0x00000004\n 0x3 com.f (F.java:1)\n"))
	f.Fuzz(func(t *testing.T, content []byte) { _, _ = fromLegacy(content) })
}
