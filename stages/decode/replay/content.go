// Package replay rebuilds a recording from a store, for the stages after decoding. The table
// `recordings`, which this package also writes, has what no other table has: JSON of the types in
// this file.
//
// Start reading with EncodeRecording (encode.go), which writes; Open (open.go) reads.
package replay

import (
	"encoding/base64"
	"encoding/json"
	"time"
	"unicode/utf8"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
)

// recordingContent is the content of part 0: the recording as a whole.
type recordingContent struct {
	Format    string                `json:"format"`
	Version   string                `json:"version"`
	Collector string                `json:"collector"`
	Host      string                `json:"host"`
	OS        string                `json:"os"`
	Arch      string                `json:"arch"`
	Comment   string                `json:"comment,omitempty"`
	CPUs      int                   `json:"cpus"`
	ClockMHz  int                   `json:"clock_mhz"`
	PageSize  int64                 `json:"page_size"`
	CacheLine int64                 `json:"cache_line"`
	WordBits  int                   `json:"word_bits"`
	Started   time.Time             `json:"started,omitzero"`
	Began     time.Time             `json:"began,omitzero"`
	Kernel    decode.KernelSymbol   `json:"kernel,omitzero"`
	Clock     *decode.CompilerClock `json:"clock,omitempty"`
	Processes int                   `json:"processes"`
	CGroups   []string              `json:"cgroups,omitempty"`
	Forms     []decode.Form         `json:"forms"`
	// Problems are the problems found when decoding. Late are the problems of later stages that a
	// second run of these stages would not find.
	Problems []diagnostic.Problem `json:"problems"`
	Late     []diagnostic.Problem `json:"late"`
}

// processContent is the content of another part: one process.
type processContent struct {
	Number      int                          `json:"number"`
	Lineage     string                       `json:"lineage,omitempty"`
	Shared      bool                         `json:"shared,omitempty"`
	PID         int64                        `json:"pid"`
	PPID        int64                        `json:"ppid"`
	Target      string                       `json:"target"`
	Command     string                       `json:"command"`
	Directory   string                       `json:"directory,omitempty"`
	StartNS     int64                        `json:"start_ns"`
	DurationNS  int64                        `json:"duration_ns"`
	Closed      bool                         `json:"closed"`
	Stacks      bool                         `json:"stacks"` // it has events
	Kinds       []decode.KindInfo            `json:"kinds"`
	Counters    []decode.Counter             `json:"counters,omitempty"`
	JITDumps    []decode.JITDump             `json:"jit_dumps,omitempty"`
	JavaMethods map[uint64]decode.JavaMethod `json:"java_methods,omitempty"`
	JavaThreads []decode.JavaThread          `json:"java_threads,omitempty"`
	Files       []fileContent                `json:"files"` // that Image and Data refer to
	Image       []mapContent                 `json:"image"`
	Data        []mapContent                 `json:"data,omitempty"`
	Codes       []decode.Code                `json:"codes,omitempty"` // that Image and Data refer to
}

// fileContent is the file of a mapping.
type fileContent struct {
	Path      anyText       `json:"path"`
	BuildID   string        `json:"build_id,omitempty"`
	ByPath    bool          `json:"by_path,omitempty"`
	Ambiguous bool          `json:"ambiguous,omitempty"`
	Checksum  uint32        `json:"checksum,omitempty"`
	ID        decode.FileID `json:"id,omitzero"`
}

// mapContent is a decode.MapEvent: whether it unmaps, time, address, size, file offset, modes,
// index of the file, and number of the code, from 1; 0 for none.
type mapContent struct {
	Unmap                     bool
	Time                      int64
	Address, Size, FileOffset uint64
	Modes, File, Code         int
}

// MarshalJSON writes the fields as a list.
func (c mapContent) MarshalJSON() ([]byte, error) {
	unmap := 0
	if c.Unmap {
		unmap = 1
	}
	return json.Marshal([]any{unmap, c.Time, c.Address, c.Size, c.FileOffset, c.Modes, c.File, c.Code})
}

// UnmarshalJSON reads a list.
func (c *mapContent) UnmarshalJSON(data []byte) error {
	unmap := 0
	list := []any{&unmap, &c.Time, &c.Address, &c.Size, &c.FileOffset, &c.Modes, &c.File, &c.Code}
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	c.Unmap = unmap == 1
	return nil
}

// anyText is a string that may not be UTF-8.
type anyText string

// MarshalJSON writes invalid UTF-8 as a list with base64.
func (t anyText) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal([]string{base64.StdEncoding.EncodeToString([]byte(t))})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *anyText) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] != '[' {
		return json.Unmarshal(data, (*string)(t))
	}
	var list [1][]byte
	err := json.Unmarshal(data, &list)
	*t = anyText(list[0])
	return err
}
