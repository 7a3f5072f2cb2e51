package unwind

import (
	"stackmill/stages/decode"
	"stackmill/stages/symbolize"
)

// truncation removes the marker of a stack that did not fit the buffer or that
// the unwinder gave up on, and names the artificial function that stands for
// the lost frames at the root end (S18, gprofng-experiment 4.4).
func truncation(words []uint64) (kept []uint64, lost string) {
	if len(words) == 0 {
		return words, ""
	}
	kept = words[:len(words)-1]
	switch words[len(words)-1] {
	case decode.MarkTruncated:
		return kept, symbolize.TruncatedStack
	case decode.MarkFailedUnwind:
		return kept, symbolize.FailedUnwind
	}
	return words, ""
}
