package report

// Reads returns the views and tables that the report reads, for a filtered session.
func (r *Request) Reads() []string {
	reads := []string{r.View}
	switch r.Name {
	case "timeline", "cpu-timeline", "seconds":
		reads = append(reads, ofWidth[r.Name])
	case "disasm":
		reads = append(reads, "function_metrics")
	case "source":
		reads = append(reads, "source_values", "line_values", "source_inlined")
	}
	return reads
}
