package pipeline

import (
	"context"
	"errors"

	"stackmill/internal/ordered"
	"stackmill/stages/decode"
	"stackmill/stages/symbolize"
)

// maxPrefetched bounds the load objects whose tables are prefetched.
const maxPrefetched = 128

// symbolPrefetcher loads the tables of the load objects that a recording names while it is still
// being opened and identified: later stages find them in memory. It leaves no other trace: errors
// of a file are reported when a stage asks for its table.
type symbolPrefetcher struct {
	in        *ingest
	end       context.CancelCauseFunc
	requested map[objectFile]bool
	worker    *ordered.Worker[objectFile] // its queue has room for all

	files recordingFiles // set with the first request
}

// objectFile identifies a load object's file by what the recording says of it.
type objectFile struct{ path, buildID string }

// errNotWanted ends the prefetcher's context.
var errNotWanted = errors.New("the tables are not wanted")

func (in *ingest) prefetchSymbols(ctx context.Context) *symbolPrefetcher {
	p := &symbolPrefetcher{in: in, requested: map[objectFile]bool{}}
	ctx, p.end = context.WithCancelCause(ctx)
	p.worker = ordered.NewWorker(ctx, maxPrefetched, p.load, nil)
	return p
}

// request is the decode.MappingObserver of the recording.
func (p *symbolPrefetcher) request(rec *decode.Recording, image []decode.MapEvent) {
	if p.files.locator == nil {
		known := decode.Recording{Host: rec.Host, OS: rec.OS, Kernel: rec.Kernel, Locate: rec.Locate}
		p.files = p.in.locate(&known)
	}
	for i := range image {
		f := objectFile{image[i].Path, image[i].BuildID}
		if image[i].Modes&4 == 0 || image[i].Code != nil || p.requested[f] || len(p.requested) == maxPrefetched {
			continue
		}
		p.requested[f] = true
		_ = p.worker.Add(f) // close has the error
	}
}

// load loads the table of the first candidate: others are needed only if that one is refused.
func (p *symbolPrefetcher) load(f objectFile) error {
	if list := symbolize.Candidates(p.files.locator, f.path, f.buildID); len(list) > 0 {
		p.files.tables.Prefetch(list[0].Path)
	}
	return nil
}

// close ends the prefetcher once the recording was opened. The error reports a panic.
func (p *symbolPrefetcher) close() error {
	p.end(errNotWanted)
	_ = p.worker.Close() // the error only says that it was ended
	return p.worker.Err()
}
