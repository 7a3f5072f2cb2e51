package pipeline

import (
	"context"

	"stackmill/internal/ordered"
	"stackmill/stages/decode"
)

// asyncOpen opens a recording on a goroutine of its own. Meanwhile the caller hashes the files,
// which also reads all of them, and loads the symbol tables.
type asyncOpen struct {
	opened *ordered.Future[*decode.Recording]
	taken  bool
}

// startOpen begins to open a recording. early receives the mappings as soon as they are known.
func startOpen(ctx context.Context, src input, early decode.MappingObserver) *asyncOpen {
	return &asyncOpen{opened: ordered.Start(func() (*decode.Recording, error) {
		rec := src.decoder.Open(decode.WithMappingObserver(ctx, early), src.at)
		for _, p := range rec.Processes {
			early(rec, p.Mappings)
		}
		return rec, nil
	})}
}

// take returns the recording, which the caller closes. A panic of the decoder becomes the error.
func (a *asyncOpen) take() (*decode.Recording, error) {
	a.taken = true
	return a.opened.Wait()
}

// close closes the recording if nobody took it.
func (a *asyncOpen) close() error {
	rec, _ := a.opened.Wait()
	if a.taken || rec == nil {
		return nil
	}
	return rec.Close()
}
