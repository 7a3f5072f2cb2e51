package queries

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"time"
)

// Poll checks a limit at each interval, and cancels a context once it is exceeded.
func Poll(ctx context.Context, interval time.Duration, cancel context.CancelCauseFunc, cause error, exceeded func() bool) {
	look := time.NewTicker(interval)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			if exceeded() {
				cancel(cause)
				return
			}
		}
	}
}

// ResidentMemory returns the resident set size of a process in bytes; 0 if unknown. It is checked
// because the engine's own memory limit does not count what SQL functions allocate.
func ResidentMemory(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
