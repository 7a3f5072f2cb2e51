package export

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"stackmill/queries"
)

// writeFolded writes a line for each stack of functions: their names from the root to the
// leaf with semicolons between them, a blank, the value. Experiments are summed.
func writeFolded(ctx context.Context, s *selection, w io.Writer) error {
	if s.rows != nil {
		return s.rows.fold(w)
	}
	if _, err := s.described(ctx); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	var stack string
	var value int64
	err := scan(ctx, s.on, fmt.Sprintf(`SELECT stack, sum(value)::BIGINT AS value FROM folded
WHERE mode = '%s' AND metric = %s GROUP BY stack HAVING sum(value) <> 0 ORDER BY stack`, s.mode, queries.Quote(s.metrics[0].name)), func() error {
		return foldedLine(out, stack, value)
	}, &stack, &value)
	if err != nil {
		return err
	}
	return out.Flush()
}

// oneLine keeps a name from ending its line.
var oneLine = strings.NewReplacer("\n", " ", "\r", " ")

func foldedLine(out io.Writer, stack string, value int64) error {
	_, err := fmt.Fprintf(out, "%s %d\n", oneLine.Replace(stack), value)
	return err
}
