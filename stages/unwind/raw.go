package unwind

import (
	"stackmill/stages/decode"
	"stackmill/stages/symbolize"
)

// meanings fills in what each frame of the recorded stack means by itself,
// before any rule, so that what the rules did can be explained afterwards.
func (u *Unwinder) meanings(raw *decode.RawStack, t int64, res *Resolved) {
	res.Words, res.OMP = u.words(raw.Words, t), u.words(raw.OMP, t)
	if len(raw.Java) > 0 {
		res.Java = make([]symbolize.LocationNo, len(raw.Java))
	}
	for i, f := range raw.Java {
		if res.Java[i] = symbolize.None; f.Method != decode.MarkTruncated {
			res.Java[i] = u.resolver.JavaFrame(u.recorded, f)
		}
	}
}

func (u *Unwinder) words(words []uint64, t int64) []symbolize.LocationNo {
	if len(words) == 0 {
		return nil
	}
	locations := u.set.words.Make(len(words))
	for i, w := range words {
		if locations[i] = symbolize.None; !isMarker(w) {
			locations[i] = u.resolve(w, t)
		}
	}
	return locations
}

func isMarker(word uint64) bool { return word >= decode.MarkCall }
