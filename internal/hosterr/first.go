package hosterr

import "sync/atomic"

// First keeps the first of several errors. The zero value has none. It is safe for concurrent
// use.
type First struct{ err atomic.Pointer[error] }

// Add keeps an error unless it is nil or another one came first.
func (f *First) Add(err error) {
	if err != nil {
		f.err.CompareAndSwap(nil, &err)
	}
}

// Err returns the first error, nil if there is none.
func (f *First) Err() error {
	if err := f.err.Load(); err != nil {
		return *err
	}
	return nil
}
