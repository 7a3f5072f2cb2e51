package perftext

import (
	"bufio"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// Patterns of a sample and of the words of its call chain, in the dump of a recording (`perf script
// -D`).
var (
	dumpSample = regexp.MustCompile(`^(?:\d+ )?(\d+) 0x[0-9a-f]+ \[0x[0-9a-f]+\]: PERF_RECORD_SAMPLE\(.*\): (-?\d+)/(-?\d+):`)
	dumpWord   = regexp.MustCompile(`^\.+ +\d+: ([0-9a-f]{16})$`)
)

// markers are words in a call chain that say which context the following words are of
// (PERF_CONTEXT_*).
var markers = map[int64]bool{-32: true, -128: true, -512: true, -640: true, -2048: true, -2176: true, -2560: true}

// firstMarker is the lowest word that perf considers a marker (PERF_CONTEXT_MAX).
const firstMarker = -4095

// Moment identifies a sample by its thread and time.
type Moment struct{ Thread, Time int64 }

// Discarded reads the dump of a recording. It returns the samples whose call chain has a word that
// is in the range of markers, but is none: perf discards such chains.
func Discarded(r io.Reader) (map[Moment]bool, error) {
	found := map[Moment]bool{}
	var now Moment
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		text := lines.Text()
		if m := dumpSample.FindStringSubmatch(text); m != nil {
			now.Time, _ = strconv.ParseInt(m[1], 10, 64)
			now.Thread, _ = strconv.ParseInt(m[3], 10, 64)
		} else if strings.HasPrefix(text, "..") {
			if m := dumpWord.FindStringSubmatch(text); m != nil {
				word, err := strconv.ParseUint(m[1], 16, 64)
				if w := int64(word); err == nil && w < 0 && w >= firstMarker && !markers[w] {
					found[now] = true
				}
			}
		}
	}
	return found, lines.Err()
}
