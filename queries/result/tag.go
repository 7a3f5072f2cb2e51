//go:build cgo && !duckdb_arrow

package result

// The SQL driver hands out Arrow batches only with this tag. Without it the compiler's error says so.
var _ = build_with_the_option_tags_duckdb_arrow
