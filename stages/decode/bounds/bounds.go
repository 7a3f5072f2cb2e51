// Package bounds tells impossible values from large ones. Bounds follow from what a recording says
// about itself: its length, the memory that its process could have, the speed of its processors.
package bounds

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"

	"stackmill/schema/diagnostic"
)

// Bounds for recordings that say nothing more precise.
const (
	// MaxDuration is the maximum duration, in ns, that counts as possible for a recording whose end
	// is unknown: nobody records a process for longer.
	MaxDuration = int64(365 * 24 * time.Hour)
	// ExitDelay is how long after the end of the recording, in ns, a thread may finish what it
	// is doing.
	ExitDelay = int64(time.Second)
	// CyclesPerNS is more clock cycles per ns than any processor has.
	CyclesPerNS = 10
	// EventsPerNS is more events per ns than any counter counts: no processor does one thing 64
	// times in a cycle.
	EventsPerNS = 64 * CyclesPerNS
	// MaxThreads is the maximum number of threads in Linux.
	MaxThreads = 1 << 22
)

// Mul multiplies and saturates at math.MaxInt64; negative factors count as 0.
func Mul(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(max(a, 0)), uint64(max(b, 0)))
	if hi != 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}

// Add adds numbers that are not negative and saturates at math.MaxInt64.
func Add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// MemoryEnd returns the end of the part of the address space that contains an address. On x86-64
// and arm64, the kernel hands out addresses beyond the default part only on request, so a block of
// memory lies in one of the two parts.
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

// MappingFits reports whether a mapping of size bytes can exist at address, and the maximum size
// there (most). It does not limit mappings beyond the process's memory, which are the kernel's.
func MappingFits(arch string, wordBits int, address, size uint64) (most int64, ok bool) {
	end := MemoryEnd(arch, wordBits, address)
	if address >= end {
		return math.MaxInt64, true
	}
	return int64(end - address), size <= end-address
}

// Outliers counts the impossible values of a file for each kind of value, such as the values of one
// field.
type Outliers struct {
	list []outlier
}

type outlier struct {
	what   string
	offset int64 // file offset of the first impossible value of this kind
	value  any   // the value at offset: an integer of any type
	unit   string
	least  int64
	most   int64
	count  int64
}

// Add counts an impossible value of kind what: one that is not between least and most. Report shows
// the value with the lowest offset.
func (l *Outliers) Add(what, unit string, offset int64, value any, least, most int64) {
	f := outlier{what, offset, value, unit, least, most, 1}
	i := slices.IndexFunc(l.list, func(f outlier) bool { return f.what == what })
	if i < 0 {
		l.list = append(l.list, f)
		return
	}
	f.count += l.list[i].count
	if offset < l.list[i].offset {
		l.list[i] = f
	} else {
		l.list[i].count++
	}
}

// Has reports whether an impossible value of kind what was added.
func (l *Outliers) Has(what string) bool {
	return slices.ContainsFunc(l.list, func(f outlier) bool { return f.what == what })
}

// Reason is the reason of the problems that Report reports.
const Reason = "value-out-of-bounds"

// Report reports one problem for each kind of value.
func (l *Outliers) Report(report func(s diagnostic.Severity, offset int64, reason, message string, count int64)) {
	for _, f := range l.list {
		report(diagnostic.Error, f.offset, Reason, fmt.Sprintf("%s is %d%s, which is impossible in this recording: values that are not between %d and %d%s are left out",
			f.what, f.value, f.unit, f.least, f.most, f.unit), f.count)
	}
}
