package pipeline

import (
	"stackmill/internal/spill"
	"stackmill/schema/storedir"
)

// listShare is the part of the memory that each list of samples may take. There are a few
// at a time, and more of it is needed for stacks and their values.
const listShare = 8

// mappedShare is the part of the memory that all recordings' mapped files may take.
const mappedShare = 4

// space returns the space for what does not fit in an experiment's part of the memory: a
// file in the store.
func (in *ingest) space() *spill.Space {
	memory := max(in.Memory, leastMemory) / listShare / int64(max(1, in.Jobs))
	s := spill.New(memory, func() (spill.File, error) {
		f, err := storedir.NewUnnamed(in.Store)
		if err != nil {
			return nil, storeFault(err)
		}
		return unnamed{f}, nil
	})
	sideBySide := max(1, min(int64(in.Jobs), in.Progress.Experiments.Load()))
	s.Mapped = in.Memory / mappedShare / sideBySide
	return s
}

// unnamed is such a file: what cannot be written says that the store cannot.
type unnamed struct{ spill.File }

// WriteAt implements io.WriterAt.
func (u unnamed) WriteAt(b []byte, at int64) (int, error) {
	n, err := u.File.WriteAt(b, at)
	return n, storeFault(err)
}
