package trend

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackmill/internal/lazyregexp"
	"stackmill/queries"
	"stackmill/schema/storedir"
)

// inOrderOfStart is the default value of Request.Order.
const inOrderOfStart = "started"

// Key is a label, or a column of the view experiments, that orders experiments or divides them into
// groups.
type Key struct{ label, column string }

// ParseKey reads a key: label=NAME, or the name of a column.
func ParseKey(text string) (k Key, err error) {
	if name, ok := strings.CutPrefix(text, "label="); ok && name != "" {
		return Key{label: name}, nil
	}
	if queries.IsColumn(text) {
		return Key{column: text}, nil
	}
	return k, fmt.Errorf("%q is neither label=NAME nor a column of experiments, such as %s, target or host", text, inOrderOfStart)
}

// LabelKey returns the key of a label.
func LabelKey(name string) Key { return Key{label: name} }

// SQL returns an expression for the key's value as a text. row is the alias of the view experiments,
// or of a relation with its columns. The value is NULL if an experiment does not have the label.
func (k Key) SQL(row string) string {
	switch {
	case k.label != "":
		return "(SELECT min(l.value) FROM labels l WHERE l.experiment_id = " + row + ".experiment_id AND l.label = " + queries.Quote(k.label) + ")"
	case k.column != "":
		return row + `."` + k.column + `"::VARCHAR`
	}
	return "NULL::VARCHAR"
}

// String names the key in messages.
func (k Key) String() string {
	if k.label != "" {
		return "label " + k.label
	}
	return k.column
}

// Unknown returns the error for a key that no experiment has.
func Unknown(ctx context.Context, db *queries.DB, option string, k Key) error {
	known, err := db.Texts(ctx, "SELECT DISTINCT label FROM labels ORDER BY ALL")
	if err != nil {
		return err
	}
	there := "none"
	if len(known) > 0 {
		there = strings.Join(known, ", ")
	}
	return fmt.Errorf("%s: no experiment has the %s%s (labels: %s)", option, k, queries.Suggest(k.label, known), there)
}

// Comparison returns a function that compares values of a key: by date if all are dates, as numbers
// if all are numbers and some have a sign or an exponent, and otherwise part by part, so that numbers
// in texts and the parts of versions compare as numbers (night-9 before night-10, 1.9 before 1.10).
func Comparison(values []string) func(a, b string) int {
	if dates := parseAll(values, func(v string) (int64, error) {
		t, err := storedir.ParseStart(v)
		return t.UnixNano(), err
	}); dates != nil {
		return func(a, b string) int { return cmp.Or(cmp.Compare(dates[a], dates[b]), cmp.Compare(a, b)) }
	}
	if slices.ContainsFunc(values, func(v string) bool { return strings.ContainsAny(v, "+-eE") }) {
		if numbers := parseAll(values, func(v string) (float64, error) { return strconv.ParseFloat(v, 64) }); numbers != nil {
			return func(a, b string) int { return cmp.Or(cmp.Compare(numbers[a], numbers[b]), cmp.Compare(a, b)) }
		}
	}
	return natural
}

// parseAll parses all values. It returns nil if one cannot be parsed.
func parseAll[T any](values []string, parse func(string) (T, error)) map[string]T {
	all := map[string]T{}
	for _, v := range values {
		parsed, err := parse(v)
		if err != nil {
			return nil
		}
		all[v] = parsed
	}
	return all
}

var naturalPart = lazyregexp.New(`[0-9]+|[^0-9]+`)

// natural compares texts part by part, and sequences of digits as numbers.
func natural(a, b string) int {
	x, y := naturalPart().FindAllString(a, -1), naturalPart().FindAllString(b, -1)
	order := slices.CompareFunc(x, y, func(a, b string) int {
		if isDigit(a[0]) && isDigit(b[0]) {
			a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
			return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
		}
		return cmp.Compare(a, b)
	})
	return cmp.Or(order, cmp.Compare(a, b))
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
