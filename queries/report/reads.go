package report

// Reads returns the views and tables with values that the report asks for: what a filtered
// session is made for.
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
