package unwind

import (
	"stackmill/stages/decode"
	"stackmill/stages/symbolize"
)

// cutMarker removes the marker at the end of a stack that did not fit the collector's buffer or
// that the unwinder gave up. lost is the artificial function that replaces the lost callers (S18,
// gprofng-experiment 4.4), "" without a marker.
func cutMarker(words []uint64) (rest []uint64, lost string) {
	if n := len(words); n > 0 {
		switch words[n-1] {
		case decode.MarkTruncated:
			return words[:n-1], symbolize.TruncatedStack
		case decode.MarkFailedUnwind:
			return words[:n-1], symbolize.FailedUnwind
		}
	}
	return words, ""
}
