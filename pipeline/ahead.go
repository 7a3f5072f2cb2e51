package pipeline

import (
	"context"

	"stackmill/stages/decode"
)

// ahead is a recording that is opened while its content is identified: both read
// it once, and while the tables of its load objects are loaded.
type ahead struct {
	rec  *decode.Recording
	err  error
	done chan struct{}
}

// openAhead begins. early is told of what is mapped until the recording was taken or
// dropped.
func openAhead(ctx context.Context, src input, early decode.Early) *ahead {
	a := &ahead{done: make(chan struct{})}
	go func() {
		defer close(a.done)
		a.err = guarded(func() error {
			a.rec = src.decoder.OpenContext(decode.WithEarly(ctx, early), src.at)
			for _, p := range a.rec.Processes {
				early(a.rec, p.Image)
			}
			return nil
		})
	}()
	return a
}

// take returns the recording, which the caller closes. A panic of the decoder is
// the error.
func (a *ahead) take() (*decode.Recording, error) {
	<-a.done
	rec := a.rec
	a.rec = nil
	return rec, a.err
}

// drop closes the recording if nobody took it.
func (a *ahead) drop() error {
	<-a.done
	if a.rec == nil {
		return nil
	}
	return a.rec.Close()
}
