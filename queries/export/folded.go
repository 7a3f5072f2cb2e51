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

// folded sums values by the names of the functions on stacks.
type folded struct {
	*selection
	e     *experiment
	names []string // by location; empty if it was not asked for
	text  []byte   // of the stack
	sums  *foldedSums
}

// writeFolded writes a line for each stack of functions: their names from the root to the
// leaf with semicolons between them, a blank, the value. Experiments are summed. Where threads
// are told apart, the thread comes first.
func writeFolded(ctx context.Context, s *selection, w io.Writer) error {
	if s.rows != nil {
		return s.rows.fold(w)
	}
	f := &folded{selection: s, sums: newFoldedSums(maxFolded)}
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

func (f *folded) begin(e *experiment) error {
	f.e, f.names = e, append(f.names[:0], make([]string, len(e.locations))...)
	return nil
}

func (f *folded) sample(s *sample) error {
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

// foldedTotal stands for the stack of samples that have none, as in the view.
const foldedTotal = "<Total>"

// foldedName keeps a name from ending its line, from being two, and from ending with a number
// after a blank, which flamegraph.pl and inferno take for another value.
func foldedName(name string) string {
	return numberAtEnd().ReplaceAllString(oneLine.Replace(strings.ReplaceAll(name, ";", ":")), "_$1")
}

var numberAtEnd = lazyregexp.New(`[\s\v]([0-9]+(?:\.[0-9]*)?)$`)

// oneLine keeps a name from ending its line.
var oneLine = strings.NewReplacer("\n", " ", "\r", " ")

func foldedLine(out io.Writer, stack string, value int64) error {
	_, err := fmt.Fprintf(out, "%s %d\n", stack, value)
	return err
}

// plus adds to a sum, unless that needs more than 64 bits.
func plus(sum *int64, v int64, of string) error {
	if v > 0 && *sum > math.MaxInt64-v {
		return fmt.Errorf("the values of %s need more than 64 bits (name fewer experiments with --experiment)", of)
	}
	*sum += v
	return nil
}
