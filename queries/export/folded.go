package export

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"stackmill/internal/lazyregexp"
)

// foldedWriter sums values by stack; a stack is the names of its functions.
type foldedWriter struct {
	*selection
	e     *experiment
	names []string // number of a location -> its name; "": not made yet
	text  []byte   // the stack of the current sample
	sums  *foldedSums
}

// writeFolded writes a line for each stack: the names of its functions from root to leaf, separated by semicolons, a
// blank, and its value in all experiments. If stacks are separated by thread, the thread is the root.
func writeFolded(ctx context.Context, s *selection, w io.Writer) error {
	if s.rows != nil {
		return s.rows.fold(w)
	}
	f := &foldedWriter{selection: s, sums: newFoldedSums(maxFolded)}
	defer f.sums.close()
	if err := s.send(ctx, f); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	if err := f.sums.each(func(stack string, value int64) error { return foldedLine(out, stack, value) }); err != nil {
		return err
	}
	return out.Flush()
}

func (f *foldedWriter) begin(e *experiment) error {
	f.e, f.names = e, append(f.names[:0], make([]string, len(e.locations))...)
	return nil
}

func (f *foldedWriter) sample(s *sample) error {
	f.text = f.text[:0]
	if thread := f.thread(f.e, s); thread != "" {
		f.text = append(append(f.text, foldedName(thread)...), ';')
	}
	for i, n := range s.path {
		if f.names[n] == "" {
			var names []string
			for _, l := range f.e.locations[n].frames(f.inline) {
				names = append(names, foldedName(l.function.name))
			}
			f.names[n] = strings.Join(names, ";")
		}
		if i > 0 {
			f.text = append(f.text, ';')
		}
		f.text = append(f.text, f.names[n]...)
	}
	if len(s.path) == 0 {
		f.text = append(f.text, foldedTotal...)
	}
	return f.sums.add(f.text, s.values[0])
}

// foldedTotal is written as the stack of samples without a stack, as in the view folded.
const foldedTotal = "<Total>"

// foldedName replaces what readers would misinterpret in a name: line ends, semicolons, and a blank with a number at
// the end, which flamegraph.pl and inferno would take for the value.
func foldedName(name string) string {
	return numberAtEnd().ReplaceAllString(oneLine.Replace(strings.ReplaceAll(name, ";", ":")), "_$1")
}

var numberAtEnd = lazyregexp.New(`[\s\v]([0-9]+(?:\.[0-9]*)?)$`)

// oneLine replaces line ends in a name.
var oneLine = strings.NewReplacer("\n", " ", "\r", " ")

func foldedLine(out io.Writer, stack string, value int64) error {
	_, err := fmt.Fprintf(out, "%s %d\n", stack, value)
	return err
}

// addChecked adds v to a sum. It returns an error if the sum exceeds 64 bits; of names the sum.
func addChecked(sum *int64, v int64, of string) error {
	if v > 0 && *sum > math.MaxInt64-v {
		return fmt.Errorf("the sum of %s exceeds 64 bits (choose fewer experiments with --experiment)", of)
	}
	*sum += v
	return nil
}
