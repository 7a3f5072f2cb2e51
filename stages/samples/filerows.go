package samples

import "stackmill/stages/attribute"

import "stackmill/schema"

// Rows emits the files, if there is a metric of what was read and written.
func (f *Files) Rows(r *attribute.Result, emit attribute.Emit) error {
	rows := r.Rows(schema.IOFiles, emit)
	for _, m := range r.Sums.Metrics {
		if m.Kind == schema.IO {
			for _, file := range f.Files {
				rows.Append(file.Number, int32(file.Process), file.Name, file.FileSystem)
			}
			break
		}
	}
	return rows.Close()
}
