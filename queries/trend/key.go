package trend

import (
	"context"
	"fmt"
	"strings"

	"stackmill/queries"
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
