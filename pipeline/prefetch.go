//go:build amd64 || arm64

package pipeline

// prefetch has the processor get bytes into its cache, without waiting for them. They need
// not be readable.
//
//go:noescape
func prefetch(b []byte)
