package main

import (
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
)

// element is a function in the stack that the program logged for a touch.
type element struct {
	kind     byte // 'c' called, 'i' inlined, 'b' body of a parallel region, '*' any library frames; '?', 'r': see places
	function string
	file     string // name without directories
	line     int
}

// touch is a logged page fault: the page that the program touched, and where.
type touch struct {
	page     uint64
	pid, tid int64
	path     []element // root first
}

// readTruth reads the log of a program. It returns the touches by page.
func readTruth(file string) (map[uint64]*touch, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	touches := map[uint64]*touch{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) < 4 {
			return nil, fmt.Errorf("%s: line %q", file, line)
		}
		t := &touch{}
		if t.page, err = strconv.ParseUint(fields[0], 10, 64); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		t.pid, _ = strconv.ParseInt(fields[1], 10, 64)
		t.tid, _ = strconv.ParseInt(fields[2], 10, 64)
		for _, f := range fields[3:] {
			parts := strings.Split(f, "|")
			if len(parts) != 4 {
				return nil, fmt.Errorf("%s: element %q", file, f)
			}
			n, _ := strconv.Atoi(parts[3])
			t.path = append(t.path, element{parts[0][0], parts[1], path.Base(parts[2]), n})
		}
		if touches[t.page] != nil {
			return nil, fmt.Errorf("%s: page %d twice", file, t.page)
		}
		touches[t.page] = t
	}
	return touches, nil
}
