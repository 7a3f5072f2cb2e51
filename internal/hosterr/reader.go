package hosterr

import (
	"context"
	"io"
)

// NewReader returns a reader that ends with a host error when the context is canceled.
func NewReader(ctx context.Context, from io.Reader) io.Reader { return contextReader{ctx, from} }

type contextReader struct {
	ctx context.Context
	io.Reader
}

func (r contextReader) Read(b []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, New(context.Cause(r.ctx))
	}
	return r.Reader.Read(b)
}
