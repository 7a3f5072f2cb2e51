package pipeline

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/cache"
	"stackmill/stages/symbolize"
)

// maxEarly bounds how many load objects' tables are loaded early.
const maxEarly = 128

// early loads the tables of the load objects that a recording names while it is still
// being opened and identified: the stages that ask for them find them in memory. It
// leaves no other trace: what is wrong with a file is reported to whoever asks for its table.
type early struct {
	*ingest
	ctx    context.Context
	end    context.CancelCauseFunc
	group  errgroup.Group
	told   map[mappedFile]bool
	wanted chan mappedFile // has room for all

	files  *located // both once something is wanted
	tables *cache.Recording
}

// mappedFile is what is known of a load object's file.
type mappedFile struct{ path, buildID string }

// errNotWanted says that the tables are not needed any more.
var errNotWanted = errors.New("the tables are not wanted")

// loadEarly begins.
func (in *ingest) loadEarly(ctx context.Context) *early {
	e := &early{ingest: in, told: map[mappedFile]bool{}, wanted: make(chan mappedFile, maxEarly)}
	e.ctx, e.end = context.WithCancelCause(ctx)
	e.group.Go(func() error { return guarded(func() error { e.load(); return nil }) })
	return e
}

// tell is the decode.Early of the recording.
func (e *early) tell(rec *decode.Recording, image []decode.MapEvent) {
	if e.files == nil {
		known := decode.Recording{Host: rec.Host, OS: rec.OS, Kernel: rec.Kernel, Locate: rec.Locate}
		e.files = locate(&e.Options, &known)
		e.tables = e.loader.Of(e.SymFS, e.files.recorded)
	}
	for i := range image {
		m := mappedFile{image[i].Path, image[i].BuildID}
		if image[i].Modes&4 == 0 || image[i].Code != nil || e.told[m] || len(e.told) == maxEarly {
			continue
		}
		e.told[m] = true
		e.wanted <- m
	}
}

// load loads the table of the first file that each may be: others are needed only if
// that one is refused.
func (e *early) load() {
	for {
		select {
		case m := <-e.wanted:
			if list := symbolize.Candidates(e.files, m.path, m.buildID); len(list) > 0 {
				e.tables.Prefetch(list[0].Path)
			}
		case <-e.ctx.Done():
			return
		}
	}
}

// close ends it: what it is told after that is ignored. The error is a mistake of ours.
func (e *early) close() error {
	e.end(errNotWanted)
	return e.group.Wait()
}
