package queries

import (
	"fmt"
	"slices"
	"strings"
)

// fixedOptions keep read_parquet from deriving anything from the names of files and directories, or
// from the session's settings. By default, a directory KEY=VALUE in a path would replace the files'
// column KEY.
var fixedOptions = []string{"hive_partitioning = false", "union_by_name = false", "binary_as_string = false"}

// ReadParquet returns SQL for the rows of Parquet files, as a relation. (A test ensures that no
// other code calls a function of the SQL engine that reads files.) paths are absolute; options are
// further options of read_parquet, such as "filename = true".
func ReadParquet(paths []string, options ...string) string {
	return fmt.Sprintf("read_parquet([%s], %s)", Quote(mapped(paths, literal.Replace)...), strings.Join(slices.Concat(fixedOptions, options), ", "))
}

// literal escapes the characters of patterns in paths for read_parquet.
var literal = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]")
