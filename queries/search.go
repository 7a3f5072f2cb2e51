package queries

import (
	"errors"
	"fmt"
	"regexp"
	regexpsyntax "regexp/syntax"
	"strings"
)

// ParseSearch returns a function that reports whether a text has the search in it or, if that is /.../, matches it as
// a regular expression. Letters may be small or capital. It returns nil if the search is empty.
func ParseSearch(search string) (func(string) bool, error) {
	if search == "" {
		return nil, nil
	}
	inner, found := strings.CutPrefix(search, "/")
	if !found || len(inner) < 2 || !strings.HasSuffix(inner, "/") {
		lower := strings.ToLower(search)
		return func(text string) bool { return strings.Contains(strings.ToLower(text), lower) }, nil
	}
	expression, err := regexp.Compile("(?i)" + strings.TrimSuffix(inner, "/"))
	if err != nil {
		var wrong *regexpsyntax.Error
		if errors.As(err, &wrong) {
			err = fmt.Errorf("%s in %s", wrong.Code, strings.TrimPrefix(wrong.Expr, "(?i)"))
		}
		return nil, fmt.Errorf("search: %s is not a regular expression: %w", search, err)
	}
	return expression.MatchString, nil
}
