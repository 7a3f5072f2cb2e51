package decode

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"stackmill/internal/lazyregexp"
)

// KernelPath is the path of the kernel's image in mappings. The file offsets of these mappings are
// addresses.
const KernelPath = "[kernel.kallsyms]"

// perfMap matches the names of JIT compilers' symbol lists.
var perfMap = lazyregexp.New(`^/tmp/perf-\d+\.map$`)

// PerfMap returns the path of the symbol list that a JIT compiler writes for a process (perf-data
// 18.1). The process's mappings of code without a file also have this path; their file offsets are
// addresses.
func PerfMap(pid int64) string { return fmt.Sprintf("/tmp/perf-%d.map", pid) }

// IsPerfMap reports whether a path is a PerfMap.
func IsPerfMap(path string) bool { return perfMap().MatchString(path) }

// deletedSuffix marks deleted files in the kernel's names.
const deletedSuffix = " (deleted)"

// anonymousNames are the prefixes of names that kernels give to mappings without a file
// (perf-data 9).
var anonymousNames = []string{"//anon", "/anon_hugepage", "[anon", "[heap]", "[stack", "/dev/zero", "/dev/ashmem", "/SYSV"}

// memfdPrefix is the start of the names of memory files. JIT compilers use memory files to map code
// twice. A program that is executed from a memory file has a build-id.
const memfdPrefix = "/memfd:"

// IsGenerated reports whether code was generated at run time, so that no file has it. A deleted
// file or a memory file with a build-id does not count: a copy of it may exist.
func IsGenerated(path string, hasBuildID bool) bool {
	begins := func(name string) bool { return strings.HasPrefix(path, name) }
	return path == "" || slices.ContainsFunc(anonymousNames, begins) || !hasBuildID && (strings.HasSuffix(path, deletedSuffix) || begins(memfdPrefix))
}

// TrimDeleted returns the path that a deleted file had.
func TrimDeleted(path string) string { return strings.TrimSuffix(path, deletedSuffix) }

// SetGenerated assigns an executable mapping to the process's symbol list, the only source that can
// describe the code.
func (m *MapEvent) SetGenerated(pid int64) {
	m.Path, m.FileOffset, m.File, m.Checksum = PerfMap(pid), m.Address, FileID{}, 0
}

// GeneratedPath is the path of a function that a JIT compiler announced.
const GeneratedPath = "<DYNAMIC_FUNCTIONS>"

// Never is the end time of something that does not end.
const Never = math.MaxInt64

// jitDump matches the names of jitdump files, in which a JIT compiler describes the code that it
// generates (perf-data 18.2).
var jitDump = lazyregexp.New(`^jit-\d+\.dump$`)

// IsJITDump reports whether a path is named like a jitdump file.
func IsJITDump(path string) bool { return jitDump().MatchString(filepath.Base(path)) }

// jittedFile matches the names of the ELF files that perf inject makes from a jitdump.
var jittedFile = lazyregexp.New(`^jitted-\d+-\d+\.so$`)

// IsJITted reports whether a path is named like an ELF file of perf inject. Such a file is newer
// than the recording.
func IsJITted(path string) bool { return jittedFile().MatchString(filepath.Base(path)) }

// JITDump is a jitdump file. A process mapped the file to announce it.
type JITDump struct {
	Path string
	// Mapped is when it was mapped (ns from the founder's start), 0 if unknown.
	Mapped int64
	// From is Mapped or, in a forked process that inherited compiled code, the time of the fork.
	// Until is when the process executed another program.
	From, Until int64
	Attached    bool // its code is in the process's image
}

// MapEvent is a recorded change of an address space.
type MapEvent struct {
	Unmap      bool   // ends the mapping that starts at Address
	Time       int64  // ns from the founder's start
	Address    uint64 // first address
	Size       uint64 // bytes
	FileOffset uint64
	Modes      int // sum of 1 read, 2 write, 4 execute, 8 shared
	Checksum   uint32
	BuildID    string // hex, empty if not recorded
	// ByPath says that perf read the build-id at the end of the recording, from the file that was
	// at Path then. Ambiguous says that Path named several files at once, as in containers.
	ByPath, Ambiguous bool
	File              FileID
	Path              string // the file, or a pseudo object such as `[vdso]`
	Code              *Code  // nil for code in a file
}

// FileID identifies a file in the kernel; zero if not recorded.
type FileID struct {
	Device, Inode, Generation uint64
}

// Same reports whether two mappings may be of the same file: mappings read from /proc have no
// generation.
func (f FileID) Same(other FileID) bool {
	if f.Generation == 0 || other.Generation == 0 {
		f.Generation, other.Generation = 0, 0
	}
	return f == other
}

// Code describes code without a file: the vdso, or generated code.
type Code struct {
	// Function is the name of the function, if the whole mapping is one. Otherwise Functions lists
	// the functions in the mapping.
	Function  string
	Functions []CodeFunction
	Reason    string // why nothing is known about the code
	Method    uint64 // Java method id of compiled code, 0 for none
	Bytes     []byte // the instructions, if recorded
	File      string // source file, if recorded
	Lines     []CodeLine
	Symbols   *ProfileSymbols `json:"Named,omitempty"`
	// Unwinding is the call frame information of a JIT compiler: an `.eh_frame` as if placed
	// after the code, aligned to 8 bytes. It is nil if there is none, and after stacks were unwound.
	Unwinding []byte `json:"-"`
}

// ProfileSymbols holds the functions and locations that a profile names in a load object. The
// address i bytes into the mapping stands for Locations[i]. Without Locations, the mapping only
// says where the load object was in memory.
type ProfileSymbols struct {
	Functions []NamedFunction
	Locations []NamedLocation `json:"Places"`
}

// NamedFunction is a function as a profile names it. Linkage is its linker name, Line its first
// source line; unknown fields are empty or 0.
type NamedFunction struct {
	Name, Linkage, File string
	Line                int32
}

// NamedLocation is a location in code.
type NamedLocation struct {
	Offset uint64      // in the load object's file, or from NoFileOffset on if unknown; unique within a function
	Lines  []NamedLine `json:"Levels"` // at least one: the function, then the functions inlined there, the outermost first
}

// NamedLine is a function, as an index in ProfileSymbols.Functions, and the current line in it, 0
// if unknown.
type NamedLine struct{ Function, Line int32 }

// CodeFunction is a function inside a Code mapping.
type CodeFunction struct {
	Name    string
	Address uint64
	Size    uint64
}

// CodeLine says that the instructions at Offset (relative to the mapping) and after it belong to a
// line.
type CodeLine struct {
	Offset uint32
	Line   int32
	File   string // source file; empty if it is Code.File
}

// CompilerClock converts JIT compilers' times to the recording's. Nil converts none.
type CompilerClock struct {
	Start     uint64      `json:"start"`     // the founder's start on the recording's clock, in ns
	Monotonic bool        `json:"monotonic"` // the recording's clock is CLOCK_MONOTONIC
	Cycles    *CycleClock `json:"cycles,omitempty"`
}

// CycleClock converts cycles of the processor's counter to a recording's time
// (perf-data 5.2, TIME_CONV).
type CycleClock struct {
	Shift  uint64 `json:"shift"`
	Mult   uint64 `json:"mult"`
	Zero   uint64 `json:"zero"`
	Cycles uint64 `json:"cycles"`
	Mask   uint64 `json:"mask"`
	Short  bool   `json:"short"` // the counter wraps around: it has only the bits of Mask
}

// Time converts a compiler's time, of CLOCK_MONOTONIC or the cycle counter, to ns from the
// founder's start. The result may be negative. It returns false if the recording has another clock.
func (c *CompilerClock) Time(t uint64, cycles bool) (ns int64, ok bool) {
	switch {
	case c == nil:
	case cycles && c.Cycles != nil:
		return int64(c.Cycles.time(t) - c.Start), true
	case !cycles && c.Monotonic:
		return int64(t - c.Start), true
	}
	return 0, false
}

func (k *CycleClock) time(cycles uint64) uint64 {
	if k.Short {
		cycles = k.Cycles + (cycles-k.Cycles)&k.Mask
	}
	whole, rest := cycles>>k.Shift, cycles&(1<<k.Shift-1)
	return k.Zero + whole*k.Mult + rest*k.Mult>>k.Shift
}
