package queries

import (
	"fmt"
	"slices"
	"strings"
)

// fixedOptions turn off everything that read_parquet derives from names of files and directories,
// or from the session's settings. By default a directory KEY=VALUE in a path becomes a column, in
// place of the files' own column of that name.
var fixedOptions = []string{"hive_partitioning = false", "union_by_name = false", "binary_as_string = false"}

// ReadParquet returns the relation of the rows in Parquet files. A test ensures that no other code
// names a function of the SQL engine that reads files. Paths are absolute; options are further
// options of read_parquet, such as "filename = true".
func ReadParquet(paths []string, options ...string) string {
	return fmt.Sprintf("read_parquet([%s], %s)", Quote(mapped(paths, literal.Replace)...), strings.Join(slices.Concat(fixedOptions, options), ", "))
}

// literal escapes the characters that read_parquet takes for patterns.
var literal = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]")
