package perftext

import (
	"bufio"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// A sample in the dump of a recording (`perf script -D`), and the words of its chain.
var (
	dumpSample = regexp.MustCompile(`^(?:\d+ )?(\d+) 0x[0-9a-f]+ \[0x[0-9a-f]+\]: PERF_RECORD_SAMPLE\(.*\): (-?\d+)/(-?\d+):`)
	dumpWord   = regexp.MustCompile(`^\.+ +\d+: ([0-9a-f]{16})$`)
)

// markers are the words of a chain that tell which context follows (PERF_CONTEXT_*).
var markers = map[int64]bool{-32: true, -128: true, -512: true, -640: true, -2048: true, -2176: true, -2560: true}

// firstMarker is the lowest word that perf takes for a marker (PERF_CONTEXT_MAX).
const firstMarker = -4095

// Moment is a thread at a time.
type Moment struct{ Thread, Time int64 }

// Discarded reads the dump of a recording and returns the samples whose chains have an unknown word
// in the range of the markers: perf shows no frame of them.
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
