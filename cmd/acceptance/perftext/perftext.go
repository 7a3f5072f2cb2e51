// Package perftext reads the texts that `perf script` and `perf report` print,
// so that they can be compared with the store.
package perftext

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// Frame is a frame of a sample's stack.
type Frame struct {
	Address uint64 // offset in the object's file, or address in memory if perf shows only that
	Symbol  string // `[unknown]` if there is none
	Offset  uint64 // from the start of the symbol
	Object  string // path; `[unknown]` if there is none
}

// Sample is a sample as perf prints it. Fields that perf did not print are 0.
type Sample struct {
	Thread int64
	Time   int64 // in ns
	Event  string
	Period int64
	Chain  []Frame // the leaf first; without inlined functions
	// Corrupt says that perf has discarded the call chain (see Discarded).
	Corrupt bool
}

// Patterns in `perf script`: the line of a sample, the thread and time in it, and a frame, which is
// at the end of that line or on a line of its own.
var (
	sampleLine = regexp.MustCompile(`\s(\d+)\s+([a-zA-Z][\w:./-]*):(\s.*|)$`)
	threadTime = regexp.MustCompile(`(-?\d+)(?:/(-?\d+))?\s+(?:\[\d+\]\s+)?(\d+)\.(\d+):`)
	frameText  = regexp.MustCompile(`^\s*(?:[0-9a-f]+\s+)?([0-9a-f]+)\s+(.*)\s+\(([^()]*(?:\(deleted\))?)\)$`)
	dataText   = regexp.MustCompile(`^.*\)\s+([0-9a-f]{6,}\s)`) // the data address, and what perf prints about it
	offsetText = regexp.MustCompile(`\+0x([0-9a-f]+)$`)
)

// Script reads the samples that `perf script` prints.
func Script(r io.Reader) (samples []Sample, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	header := false // the line before was a sample's: if a chain follows, the frame in that line was a data address
	for n := 1; lines.Scan(); n++ {
		text := lines.Text()
		if text == "" {
			continue
		}
		var f Frame
		inner := strings.HasPrefix(text, "\t")
		isFrame := false
		if inner {
			f, isFrame = frame(text)
		} else if s, rest, ok := sample(text); ok {
			samples = append(samples, s)
			f, isFrame = frame(dataText.ReplaceAllString(rest, "$1"))
		}
		first := header
		header = !inner
		if !isFrame || f.Object == "inlined" {
			continue
		}
		if len(samples) == 0 {
			return nil, fmt.Errorf("line %d: a frame before any sample", n)
		}
		last := &samples[len(samples)-1]
		if first && inner {
			last.Chain = nil
		}
		last.Chain = append(last.Chain, f)
	}
	return samples, lines.Err()
}

// sample parses the line of a sample. rest is what follows the fields: the leaf, or nothing.
func sample(text string) (s Sample, rest string, ok bool) {
	at := sampleLine.FindStringSubmatchIndex(text)
	if at == nil {
		return s, "", false
	}
	m := func(i int) string { return text[at[2*i]:at[2*i+1]] }
	s.Period, _ = strconv.ParseInt(m(1), 10, 64)
	s.Event = m(2)
	if t := threadTime.FindStringSubmatch(text[:at[0]]); t != nil {
		thread := t[2]
		if thread == "" {
			thread = t[1]
		}
		s.Thread, _ = strconv.ParseInt(thread, 10, 64)
		seconds, _ := strconv.ParseInt(t[3], 10, 64)
		fraction, _ := strconv.ParseInt((t[4] + "000000000")[:9], 10, 64)
		s.Time = seconds*1e9 + fraction
	}
	return s, m(3), true
}

func frame(text string) (f Frame, ok bool) {
	m := frameText.FindStringSubmatch(text)
	if m == nil {
		return f, false
	}
	address, err := strconv.ParseUint(m[1], 16, 64)
	if err != nil {
		return f, false
	}
	f = Frame{Address: address, Symbol: m[2], Object: m[3]}
	if o := offsetText.FindStringSubmatch(m[2]); o != nil {
		f.Offset, _ = strconv.ParseUint(o[1], 16, 64)
		f.Symbol = strings.TrimSuffix(m[2], o[0])
	}
	return f, true
}

// Row is a row of `perf report`.
type Row struct {
	Event    string
	Children string // inclusive value in percent of the event's total; "" without that column
	Total    int64  // sum of all rows of the event
	Period   int64  // exclusive value
	Samples  int64
	Object   string // base name of the path
	Symbol   string // an address if the code has no symbol
}

// Patterns of the rows of `perf report`, and of the lines above its table.
var (
	reportRow   = regexp.MustCompile(`^ +(?:([\d.]+)% +)?[\d.]+% +(\d+) +(\d+) +(\S.*?) +\[.\] (.*?)\s*$`)
	reportEvent = regexp.MustCompile(`^# Samples: .* of event '(.*)'`)
	reportJIT   = regexp.MustCompile(`^\[JIT\] tid (\d+)$`) // perf script prints the name of the file instead
	reportTotal = regexp.MustCompile(`^# Event count \(approx\.\): (\d+)`)
)

// Report reads the output of `perf report` with the columns overhead_children (optional), overhead,
// sample, period, dso and sym.
func Report(r io.Reader) (rows []Row, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	var event string
	var total int64
	for lines.Scan() {
		text := lines.Text()
		if m := reportEvent.FindStringSubmatch(text); m != nil {
			event = m[1]
		} else if m := reportTotal.FindStringSubmatch(text); m != nil {
			if total, err = strconv.ParseInt(m[1], 10, 64); err != nil {
				return nil, err
			}
		} else if m := reportRow.FindStringSubmatch(text); m != nil {
			row := Row{Event: event, Total: total, Children: m[1], Object: reportJIT.ReplaceAllString(m[4], "perf-$1.map"), Symbol: m[5]}
			row.Samples, _ = strconv.ParseInt(m[2], 10, 64)
			row.Period, _ = strconv.ParseInt(m[3], 10, 64)
			rows = append(rows, row)
		} else if text != "" && !strings.HasPrefix(text, "#") {
			return nil, fmt.Errorf("a row that is none: %q", text)
		}
	}
	return rows, lines.Err()
}
