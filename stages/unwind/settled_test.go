package unwind

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"stackmill/stages/decode"
	"stackmill/stages/symbolize"
)

// A stack means the same whatever was normalised before it: what is settled of other
// stacks' words holds for it, too.
func TestSettled(t *testing.T) {
	const kernel = 0xffffffff81000010
	words := rapid.SampledFrom([]uint64{
		pcMain, pcWork, pcWork + 8, pcPLT, pcCold, pcNative, pcStatic, pcSignal, pcJVM, pcWild, pcChanging,
		decode.MarkLeafCheck, decode.MarkCall,
	})
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.Custom(func(t *rapid.T) decode.RawStack {
			s := decode.RawStack{
				Words: rapid.SliceOfN(words, 1, 5).Draw(t, "leaf"), Returns: rapid.Bool().Draw(t, "returns"), OMPState: -1,
				Callers: rapid.SampledFrom([]decode.Callers{decode.CallersCollected, decode.CallersChained, decode.CallersUnwound}).Draw(t, "callers"),
			}
			s.Words = append(s.Words, rapid.SampledFrom([][]uint64{
				{}, {pcWork, pcNative, pcMain}, {pcWork + 16, pcNative, pcMain}, {pcSignal, pcWork, pcMain}, {pcPLT, pcWork, pcMain}, {pcChanging, pcNative, pcMain}, {pcMain, decode.MarkTruncated},
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
				t.Fatalf("%#x holds for %d..%d, cut %q; alone for %d..%d, cut %q", s.Words, got.From, got.Until, got.CutOff, want.From, want.Until, want.CutOff)
			}
			if diff := cmp.Diff(pathOf(r2, other, want), pathOf(r, tree, got)); diff != "" {
				t.Fatalf("%#x: %s", s.Words, diff)
			}
		}
	})
}

// Whether a caller was found by the frame pointer counts for what is above it, also where
// the words down to that caller are settled.
func TestSettledByFrame(t *testing.T) {
	u, _, _ := changingUnwinder()
	for i, leaf := range []uint64{pcMain, pcWork + 8} {
		s := decode.RawStack{
			Words: []uint64{leaf, pcWork, pcWork + 16, pcNative, pcWork}, ByFrame: []int32{3},
			Callers: decode.CallersUnwound, OMPState: -1,
		}
		if got := stackOf(u, &s, false, 0); got.CutOff != CutNoStart || u.base.is != (i > 0) {
			t.Errorf("%#x: cut %q, settled: %t", s.Words, got.CutOff, u.base.is)
		}
	}
}

// pcChanging is in code that is replaced at time 2.
const pcChanging = 0x9004

func changingUnwinder() (*Unwinder, *Tree, *symbolize.Resolver) {
	code := func(t int64, name string) decode.MapEvent {
		return decode.MapEvent{Time: t, Address: pcChanging &^ 15, Size: 16, Path: name, Code: &decode.Code{Function: name}}
	}
	return unwinder(&decode.Process{Image: []decode.MapEvent{code(0, "one"), code(2, "two")}})
}

// pathFrame is a frame on a path, with the names of its functions.
type pathFrame struct {
	Part  Part
	Word  uint64
	Own   string
	Modes [Modes]string
}

func pathOf(r *symbolize.Resolver, tree *Tree, s Resolved) (path []pathFrame) {
	name := func(l symbolize.LocationNo) string {
		if l < 0 {
			return ""
		}
		return r.Program.Functions[r.Program.Locations[l].Function].Name
	}
	for n := tree.Ends[s.Path].Node; n > 0; n = tree.Parent[n] {
		f := &tree.Frames[tree.Label[n]]
		p := pathFrame{Part: f.Part, Word: f.Word, Own: name(f.Own)}
		for m, location := range f.Shown {
			p.Modes[m] = name(location) + "/" + f.Rules[m].String()
		}
		path = append(path, p)
	}
	return path
}
