package queries

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// ResidentMemory is the resident size of a process in bytes, 0 if unknown. The engine's own limit
// does not count what functions of SQL allocate.
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
