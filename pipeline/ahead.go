package pipeline

import "stackmill/stages/decode"

// ahead is a recording that is opened while its content is identified: both read
// it once.
type ahead struct {
	rec      *decode.Recording
	panicked any
	done     chan struct{}
}

func openAhead(src input) *ahead {
	a := &ahead{done: make(chan struct{})}
	go func() {
		defer close(a.done)
		defer func() { a.panicked = recover() }()
		a.rec = src.decoder.Open(src.path)
	}()
	return a
}

// take returns the recording, which the caller closes. A panic of the decoder is
// the caller's.
func (a *ahead) take() *decode.Recording {
	<-a.done
	if a.panicked != nil {
		panic(a.panicked)
	}
	rec := a.rec
	a.rec = nil
	return rec
}

// drop closes the recording if nobody took it.
func (a *ahead) drop() error {
	<-a.done
	if a.rec == nil {
		return nil
	}
	return a.rec.Close()
}
