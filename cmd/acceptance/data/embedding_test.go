package data

import (
	"database/sql"
	"strings"
	"testing"
)

// A structure in an arena of bytes, or in another object, is identified by the instruction's
// operand (S27): the data address may confirm that, and the object at the address is reported
// separately.
func TestEmbedding(t *testing.T) {
	for _, x := range []struct{ program, agreement, embedding string }{
		{"arena", "unchecked", "{array[4096]:char arena}"},
		{"embed", "agrees", "{structure:process}.{structure:task}"},
	} {
		samples, told := 0, 0
		query(t, func(r *sql.Rows) error {
			var experiment, function, descriptor, agreement, embedding string
			var n int
			err := r.Scan(&experiment, &function, &descriptor, &agreement, &embedding, &n)
			if !strings.HasPrefix(descriptor, "{structure:task}") {
				t.Errorf("%s: %d times %s in %s", experiment, n, descriptor, function)
			}
			samples += n
			if agreement == x.agreement && strings.HasPrefix(embedding, x.embedding) {
				told += n
			} else {
				t.Errorf("%s: %d times %s in %s: %s, %q", experiment, n, descriptor, function, agreement, embedding)
			}
			return err
		}, `SELECT experiment, "function", descriptor, agreement, embedding, sum(samples)::INTEGER FROM data_object_functions
			WHERE mode = 'user' AND metric NOT LIKE '%.samples' AND starts_with(experiment, ?) AND load_object = replace(experiment, '.data', '')
			AND "function" <> 'main' GROUP BY ALL`, x.program+"_")
		if samples == 0 || told != samples {
			t.Errorf("%s: %d of %d samples", x.program, told, samples)
		}
	}
}
