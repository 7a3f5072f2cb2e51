package hosterr

import (
	"io"
	"testing"
)

// Of several host errors, the first is kept.
func TestFirst(t *testing.T) {
	var f First
	f.Add(nil)
	if f.Err() != nil {
		t.Error(f.Err())
	}
	f.Add(io.EOF)
	f.Add(io.ErrUnexpectedEOF)
	if f.Err() != io.EOF {
		t.Error(f.Err())
	}
}
