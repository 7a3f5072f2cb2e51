package pipeline

import (
	"stackmill/internal/spill"
	"stackmill/schema/storedir"
)

// listShare: each list of samples takes at most 1/listShare of the memory. There are a few lists at
// a time, and stacks and their values need more.
const listShare = 8

// mappedShare: the mapped files of all recordings take at most 1/mappedShare of the memory.
const mappedShare = 4

// space returns the spill space of an experiment: an unnamed file in the store, for data beyond the
// experiment's share of the memory.
func (in *ingest) space() *spill.Space {
	memory := max(in.options.Memory, minMemory) / listShare / int64(max(1, in.options.Jobs))
	s := spill.New(memory, func() (spill.File, error) {
		f, err := storedir.NewUnnamed(in.options.Store)
		if err != nil {
			return nil, storeFault(err)
		}
		return unnamedFile{f}, nil
	})
	concurrent := max(1, min(int64(in.options.Jobs), in.options.Progress.Experiments.Load()))
	s.Mapped = in.options.Memory / mappedShare / concurrent
	return s
}

// unnamedFile is a spill file without a name. Its write errors are reported as errors of the store.
type unnamedFile struct{ spill.File }

// WriteAt implements io.WriterAt.
func (u unnamedFile) WriteAt(b []byte, at int64) (int, error) {
	n, err := u.File.WriteAt(b, at)
	return n, storeFault(err)
}
