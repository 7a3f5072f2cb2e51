// Package bounds distinguishes impossible values from large ones. A bound follows from
// what a recording says about itself: how long it is, how much memory its process could
// have, how fast its processors count.
package bounds

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"

	"stackmill/schema/diagnostic"
)

// Bounds for recordings that do not say more.
const (
	// Longest is longer than anybody records a process, in ns: it bounds recordings that
	// do not say when they ended.
	Longest = int64(365 * 24 * time.Hour)
	// Late is how long after the end of the recording, in ns, a thread may finish what it
	// was doing.
	Late = int64(time.Second)
	// CyclesPerNS is more than any processor runs.
	CyclesPerNS = 10
	// EventsPerNS is more than any counter counts: no processor does so much of one
	// thing in a cycle.
	EventsPerNS = 64 * CyclesPerNS
	// Threads is how many threads Linux can have.
	Threads = 1 << 22
)

// Times is a product, limited to math.MaxInt64; negative factors count as 0.
func Times(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(max(a, 0)), uint64(max(b, 0)))
	if hi != 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}

// Plus is a sum of numbers that are not negative, limited to math.MaxInt64.
func Plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// MemoryEnd is the end of the part of a process's address space that holds an address.
// On x86-64 and arm64 the kernel gives out addresses beyond the usual part only on
// request, so that a block lies in one of the two parts.
func MemoryEnd(arch string, wordBits int, address uint64) uint64 {
	usual, most := uint64(1)<<56, uint64(1)<<56
	switch {
	case wordBits == 32:
		usual, most = 1<<32, 1<<32
	case arch == "x86_64":
		usual = 1 << 47
	case arch == "aarch64":
		usual = 1 << 48
	}
	if address < usual {
		return usual
	}
	return most
}

// Mapping reports whether a mapping can be so large at its address, and how large it can
// be. What begins after the process's memory is the kernel's.
func Mapping(arch string, wordBits int, address, size uint64) (most int64, ok bool) {
	end := MemoryEnd(arch, wordBits, address)
	if address >= end {
		return math.MaxInt64, true
	}
	return int64(end - address), size <= end-address
}

// Left counts the values of a file that are left out, by what they are.
type Left struct {
	found []found
}

type found struct {
	what   string
	offset int64 // of the first in the file
	value  any   // a number
	unit   string
	least  int64
	most   int64
	count  int64
}

// Out counts a value that is not between least and most. The first in the file is
// reported.
func (l *Left) Out(what, unit string, offset int64, value any, least, most int64) {
	f := found{what, offset, value, unit, least, most, 1}
	i := slices.IndexFunc(l.found, func(f found) bool { return f.what == what })
	if i < 0 {
		l.found = append(l.found, f)
		return
	}
	f.count += l.found[i].count
	if offset < l.found[i].offset {
		l.found[i] = f
	} else {
		l.found[i].count++
	}
}

// Has reports whether any value of a kind is left out.
func (l *Left) Has(what string) bool {
	return slices.ContainsFunc(l.found, func(f found) bool { return f.what == what })
}

// Reason is the reason of the problems.
const Reason = "value-out-of-bounds"

// Report makes one problem for each kind of values.
func (l *Left) Report(report func(s diagnostic.Severity, offset int64, reason, message string, count int64)) {
	for _, f := range l.found {
		report(diagnostic.Error, f.offset, Reason, fmt.Sprintf("%s is %d%s, which is impossible in this recording: it is left out, like others that are not between %d and %d%s",
			f.what, f.value, f.unit, f.least, f.most, f.unit), f.count)
	}
}
