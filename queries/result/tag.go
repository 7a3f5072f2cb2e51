//go:build cgo && !duckdb_arrow

package result

// The SQL driver returns Arrow batches only if built with this tag. Without the tag, the compiler's
// error names it.
var _ = build_with_the_option_tags_duckdb_arrow
