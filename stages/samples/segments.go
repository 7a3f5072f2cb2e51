package samples

import (
	"stackmill/schema"
	"stackmill/stages/symbolize"
	"stackmill/stages/symbolize/image"
)

// Segments appends a row for each mapping of a process's load objects.
func Segments(rows *schema.Rows, process int, p *symbolize.Process) {
	p.Segments(func(m *image.Mapping, object int64) {
		var unloaded any
		if m.Unloaded != image.Never {
			unloaded = m.Unloaded
		}
		rows.Append(int32(process), object, int64(m.Address), int64(m.Size), int64(m.FileOffset),
			int32(m.Modes), m.Loaded, unloaded)
	})
}
