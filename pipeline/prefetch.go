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

// symbolPrefetcher loads symbol tables early: as soon as the mappings of a recording are known,
// while it is still being opened and identified. Later stages find the tables in memory. They also
// report the errors, which the prefetcher ignores.
type symbolPrefetcher struct {
	in        *ingest
	end       context.CancelCauseFunc
	requested map[objectFile]bool
	worker    *ordered.Worker[objectFile] // its queue has room for all

	files recordingFiles // set with the first request
}

// objectFile identifies a load object's file by the path and build-id in the recording.
type objectFile struct{ path, buildID string }

// errNotWanted cancels the prefetcher's context once no more tables are wanted.
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

// load loads the table of the first candidate file only: the stages rarely need another.
func (p *symbolPrefetcher) load(f objectFile) error {
	if list := symbolize.Candidates(p.files.locator, f.path, f.buildID); len(list) > 0 {
		p.files.tables.Prefetch(list[0].Path)
	}
	return nil
}

// close ends the prefetcher once the recording was opened. The error is a panic of the worker.
func (p *symbolPrefetcher) close() error {
	p.end(errNotWanted)
	_ = p.worker.Close() // the error only says that the worker was ended
	return p.worker.Err()
}
