package gprofngtest

import (
	"slices"

	"stackmill/schema"
)

// Form is the collector in whose format an experiment is written. All formats hold the same data
// (studio-experiment).
type Form int

// The forms. Studio 12.5 writes the same form as 12.6.
const (
	Gprofng Form = iota
	Studio126
	Studio123
)

// Forms are all forms.
var Forms = []Form{Gprofng, Studio126, Studio123}

func (f Form) String() string { return [...]string{"gprofng", "Studio 12.6", "Studio 12.3"}[f] }

func (f Form) version() string {
	if f == Studio123 {
		return "12.3"
	}
	return "12.4"
}

func (f Form) Collector() string {
	return [...]string{"2.40.00", "Studio 12.6 Performance Analyzer 12.6 Linux_x64 2017/05/24", "Sun Analyzer 7.9 Linux_i386 2011/11/16"}[f]
}

func (f Form) BlockSize() int {
	if f == Studio123 {
		return oldBlockSize
	}
	return blockSize
}

// Modes converts the modes of a mapping from those of mmap to what the collector writes. It also
// returns the checksum that the collector writes.
func (f Form) Modes(modes int) (written int, checksum string) {
	if f == Gprofng {
		return modes, "0xFFFFFFFF"
	}
	written = modes&^5 | modes&1<<2 | modes&4>>2
	if written == 5 {
		return written, "0xFFFFFFFF"
	}
	return written, "0x0"
}

// Layouts returns the packet layouts of a kind in the experiment's form: Studio aligns all fields
// of the clock profile.
func (e *Experiment) Layouts(kind schema.Kind) []Layout {
	list := Layouts[kind]
	if e.Form != Gprofng && kind == schema.Clock {
		list = slices.Clone(list)
		list[0].Fields = common(Field{"MSTATE", 48, "INT32"}, Field{"NTICK", 52, "INT32"})
	}
	return list
}
