package samples

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
)

// tableRows collects rows as text, by table.
type tableRows map[string][]string

func (e tableRows) emit(t *schema.Table, rows arrow.RecordBatch) error {
	for i := range int(rows.NumRows()) {
		var values []string
		for c := range rows.Columns() {
			values = append(values, rows.Column(c).ValueStr(i))
		}
		e[t.Name] = append(e[t.Name], strings.Join(values, " "))
	}
	return nil
}
