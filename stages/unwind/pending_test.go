package unwind

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"stackmill/stages/decode"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
	"stackmill/stages/symbolize"
)

// A stack's frames do not depend on the earlier stacks with which it shares settled callers.
func TestSettledCallers(t *testing.T) {
	const kernel = 0xffffffff81000010
	words := rapid.SampledFrom([]uint64{
		pcMain, pcWork, pcWork + 8, pcPLT, pcCold, pcNative, pcStatic, pcSignal, pcJVM, pcWild, pcChanging, pcStart,
		decode.MarkLeafCheck, decode.MarkCall,
	})
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.Custom(func(t *rapid.T) decode.RawStack {
			s := decode.RawStack{
				Words: rapid.SliceOfN(words, 1, 5).Draw(t, "leaf"), Returns: rapid.Bool().Draw(t, "returns"), OMPState: -1,
				Callers: rapid.SampledFrom([]decode.Callers{decode.CallersCollected, decode.CallersChained, decode.CallersUnwound}).Draw(t, "callers"),
			}
			s.Words = append(s.Words, rapid.SampledFrom([][]uint64{
				{}, {pcWork, pcNative, pcMain}, {pcWork + 16, pcNative, pcMain}, {pcSignal, pcWork, pcMain}, {pcPLT, pcWork, pcMain}, {pcStart, pcWork, pcMain}, {pcChanging, pcNative, pcMain}, {pcMain, decode.MarkTruncated},
			}).Draw(t, "root")...)
			for i := range s.Words {
				if s.Callers == decode.CallersUnwound && i > 0 && rapid.IntRange(0, 5).Draw(t, "mark") == 0 {
					s.ByFrame = append(s.ByFrame, int32(i))
				}
				if s.Returns && i > 0 && rapid.IntRange(0, 9).Draw(t, "mark") == 0 {
					s.Exact = append(s.Exact, int32(i))
				}
			}
			if rapid.IntRange(0, 3).Draw(t, "mode") == 0 {
				s.Words = append([]uint64{kernel, kernel + 8}, s.Words...)
				s.Kernel = 2
				for _, marks := range [][]int32{s.ByFrame, s.Exact} {
					for i := range marks {
						marks[i] += 2
					}
				}
			}
			return s
		})
		all, tree, r := changingUnwinder()
		for _, s := range rapid.SliceOfN(raw, 1, 12).Draw(t, "stacks") {
			at := rapid.Int64Range(0, 3).Draw(t, "time")
			alone, other, r2 := changingUnwinder()
			got, want := stackOf(all, &s, false, at), stackOf(alone, &s, false, at)
			if got.From != want.From || got.Until != want.Until || got.CutOff != want.CutOff {
				t.Fatalf("%#x holds for %d..%d, cut %d; alone for %d..%d, cut %d", s.Words, got.From, got.Until, got.CutOff, want.From, want.Until, want.CutOff)
			}
			if diff := cmp.Diff(pathOf(r2, other, want), pathOf(r, tree, got)); diff != "" {
				t.Fatalf("%#x: %s", s.Words, diff)
			}
		}
	})
}

// A caller found by the frame pointer marks the stack as cut even if it is below the first settled
// word.
func TestSettledByFrame(t *testing.T) {
	u, _, _ := changingUnwinder()
	for i, leaf := range []uint64{pcMain, pcWork + 8} {
		s := decode.RawStack{
			Words: []uint64{leaf, pcWork, pcWork + 16, pcNative, pcWork}, ByFrame: []int32{3},
			Callers: decode.CallersUnwound, OMPState: -1,
		}
		if got := stackOf(u, &s, false, 0); got.CutOff != stacktree.CutNoStart || u.base.ok != (i > 0) {
			t.Errorf("%#x: cut %d, settled: %t", s.Words, got.CutOff, u.base.ok)
		}
	}
}

// A caller means the code at the time of its stack, even if it is loaded only because its callee
// did not settle, and was read before.
func TestCallersInTime(t *testing.T) {
	for _, times := range [][]int64{{0, 3, 0}, {3, 0, 3}, {0, 3, 0, 3}, {3, 0, 0, 3, 3, 0}} {
		u, tree, r := changingUnwinder()
		for i, at := range times {
			words := []uint64{pcWork + 4*uint64(i), pcCold, pcChanging, pcNative, pcMain}
			if i > 0 && at != times[0] {
				words = slices.Delete(words, 1, 2)
			}
			want := "one"
			if at >= 2 {
				want = "two"
			}
			got := stackOf(u, &decode.RawStack{Words: words, OMPState: -1}, false, at)
			if text := text(r, tree, got, stacktree.Machine); !strings.HasSuffix(text, want+" native main") || !got.Contains(at) {
				t.Errorf("times %d: at %d %s, for %+v", times, at, text, got.Life)
			}
		}
	}
}

// pcChanging lies in code that is replaced at time 2.
const pcChanging = 0x9004

func changingUnwinder() (*testUnwinder, *stacktree.Tree, *symbolize.Resolver) {
	code := func(t int64, name string) decode.MapEvent {
		return decode.MapEvent{Time: t, Address: pcChanging &^ 15, Size: 16, Path: name, Code: &decode.Code{Function: name}}
	}
	return unwinder(&decode.Process{Mappings: []decode.MapEvent{code(0, "one"), code(2, "two")}})
}

// pathFrame is a frame on a path, with the names of its functions.
type pathFrame struct {
	Part  stacktree.Part
	Word  uint64
	Own   string
	Modes [stacktree.Modes]string
}

func pathOf(r *symbolize.Resolver, tree *stacktree.Tree, s normalizedStack) (path []pathFrame) {
	name := func(l program.LocationNo) string {
		if l < 0 {
			return ""
		}
		return r.Program.Functions[r.Program.Location(l).Function].Name
	}
	for n := tree.Ends.At(int(s.Path)).Node; n > 0; n = tree.Parent(n) {
		f := tree.Frames.At(int(tree.Label(n)))
		p := pathFrame{Part: f.Part, Word: f.Word, Own: name(f.Own)}
		for m, location := range f.Shown {
			p.Modes[m] = name(location) + "/" + f.Rules[m].String()
		}
		path = append(path, p)
	}
	return path
}

// Each stack has the right life even if there are more lives than numbers.
func TestManyLives(t *testing.T) {
	const pieces = maxLives + 100
	var image []decode.MapEvent
	at := func(i int) uint64 { return 0x10000000 + 16*uint64(i) }
	for i := range pieces {
		image = append(image, decode.MapEvent{Address: at(i), Size: 16, Path: "code", Code: &decode.Code{Function: "code"}})
	}
	for i := range pieces {
		image = append(image, decode.MapEvent{Time: int64(i) + 1, Unmap: true, Address: at(i)})
	}
	u, tree, _ := unwinder(&decode.Process{Mappings: image})
	for i := range pieces {
		raw := decode.RawStack{Words: []uint64{pcWork, at(i) + 8, pcNative, pcMain}, OMPState: -1}
		for _, raw.Words[0] = range []uint64{pcWork, pcWork + 4} {
			got := stackOf(u, &raw, false, 0)
			if got.Until != int64(i)+1 || len(recorded(tree, got)) != len(raw.Words) {
				t.Fatalf("stack %d: %+v", i, got)
			}
		}
	}
	if len(u.reader.lives.lives) > pieces/2 {
		t.Error("nothing was forgotten")
	}
}
