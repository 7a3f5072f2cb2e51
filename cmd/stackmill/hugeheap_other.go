//go:build !linux || (!amd64 && !arm64) || !cgo || race || msan || asan

package main

// hugePages does nothing where the heap is not known to grow in the same way.
func hugePages(int64) {}
