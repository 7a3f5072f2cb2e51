package queries

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"stackmill/internal/lazyregexp"
	"stackmill/schema/storedir"
)

// ValueOrder returns a function that compares values of a label or column: by date if all are dates,
// as numbers if all are numbers and some have a sign or an exponent, and otherwise part by part, so
// that numbers in texts and the parts of versions compare as numbers (night-9 before night-10, 1.9
// before 1.10).
func ValueOrder(values []string) func(a, b string) int {
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
