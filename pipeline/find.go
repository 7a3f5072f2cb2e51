package pipeline

import "context"

// Found is a recording that paths stand for.
type Found struct {
	Path    string // absolute
	Bytes   int64  // the size of its files
	State   string // a hash of what its files are, by all but their content, as storedir.Noted has it; empty if unknown
	Instead string // Skipped or Forgotten if the store's journal says that an ingest has nothing to do with it, else empty
	Err     error  // why there is no recording
}

// Find finds the recordings that Ingest would read with these options, in the same order,
// and opens none that the journal knows.
func Find(ctx context.Context, opts Options, paths ...string) ([]Found, error) {
	opts.SharedCache = "" // nothing is read
	in, err := newIngest(ctx, opts)
	if err != nil {
		return nil, err
	}
	if err := in.recall(); err != nil {
		return nil, err
	}
	inputs, err := in.discover(ctx, paths)
	if err != nil {
		return nil, err
	}
	list := make([]Found, len(inputs))
	for i := range inputs {
		src := &inputs[i]
		list[i] = Found{Path: src.path, Bytes: src.bytes, State: src.state, Err: src.err}
		if noted := in.journal.known(src); noted.ExperimentID != "" {
			list[i].Instead = in.leftOut(noted)
		}
	}
	return list, context.Cause(ctx)
}
