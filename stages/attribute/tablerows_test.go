package attribute

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
)

// tableRows maps tables to their rows as text.
type tableRows map[string][]string

func (e tableRows) emit(t *schema.Table, rows arrow.RecordBatch) error {
	for i := range int(rows.NumRows()) {
		var values []string
		for c := range rows.Columns() {
			switch name := rows.ColumnName(c); {
			case name == schema.Modes[0]:
				values = append(values, fmt.Sprint(schema.ModesOf(rows)[i]))
			case !slices.Contains(schema.Modes, name):
				values = append(values, rows.Column(c).ValueStr(i))
			}
		}
		e[t.Name] = append(e[t.Name], strings.Join(values, " "))
	}
	return nil
}
