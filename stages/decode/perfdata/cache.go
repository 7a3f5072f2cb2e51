package perfdata

import "stackmill/schema/diagnostic"

// The caches that have no data.
const instructionCache = "Instruction"

// Bounds of the size of a cache's line, bytes.
const (
	minLine = 8
	maxLine = 4096
)

// cacheVersion is the known version of the list of caches.
const cacheVersion = 1

// caches reads the list of caches (perf-data 2). It keeps the line size of the first-level data
// cache, the largest if processors differ.
func (r *reader) caches(c *cursor) {
	version, n := c.U32(), c.U32()
	if c.Short || version != cacheVersion {
		r.problem(diagnostic.Info, diagnostic.NoOffset, "bad-caches", "the list of caches has the unknown version %d: the line size is not read", version)
		return
	}
	nearest := uint32(0)
	for ; n > 0; n-- {
		level, line := c.U32(), c.U32()
		c.U32() // sets
		c.U32() // ways
		kind := c.string()
		_, _ = c.string(), c.string() // size, processors
		if c.Short {
			r.problem(diagnostic.Info, diagnostic.NoOffset, "bad-caches", "the list of caches is cut: the line size may be wrong")
			return
		}
		switch {
		case kind == instructionCache:
		case line < minLine || line > maxLine || line&(line-1) != 0:
			r.problem(diagnostic.Info, diagnostic.NoOffset, "bad-caches", "a cache with lines of %d bytes is ignored", line)
		case nearest == 0 || level < nearest:
			nearest, r.rec.CacheLine = level, int64(line)
		case level == nearest:
			r.rec.CacheLine = max(r.rec.CacheLine, int64(line))
		}
	}
}
