package pipeline

import "context"

// FoundRecording is a recording at a path.
type FoundRecording struct {
	Path    string // absolute
	Bytes   int64  // the size of its files
	State   string // a hash of the names, sizes and times of its files (storedir.JournalEntry.State); empty if unknown
	Instead string // Skipped or Forgotten if the store's journal says that ingest would not read it, else empty
	Err     error  // why there is no recording
}

// Find finds the recordings that Ingest would read with these options, in the same order. It does
// not open recordings that the journal knows.
func Find(ctx context.Context, opts Options, paths ...string) ([]FoundRecording, error) {
	opts.SharedCache = "" // nothing is read
	in, err := newIngest(ctx, opts)
	if err != nil {
		return nil, err
	}
	if err := in.readStore(); err != nil {
		return nil, err
	}
	inputs, err := in.discover(ctx, paths)
	if err != nil {
		return nil, err
	}
	list := make([]FoundRecording, len(inputs))
	for i := range inputs {
		src := &inputs[i]
		list[i] = FoundRecording{Path: src.path, Bytes: src.bytes, State: src.state, Err: src.err}
		if noted := in.journal.known(src); noted.ExperimentID != "" {
			list[i].Instead = in.skipReason(noted)
		}
	}
	return list, context.Cause(ctx)
}
