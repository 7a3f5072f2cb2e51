//go:build !linux || (!amd64 && !arm64) || !cgo || race || msan || asan

package hugepages

// Allow does nothing on systems where the heap may grow in another way.
func Allow(int64) {}
