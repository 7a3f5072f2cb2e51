package queries

import (
	"context"
	"database/sql/driver"
	"fmt"
	"iter"
	"strings"

	"stackmill/schema"
	"stackmill/storedir"
)

// sumsTogether is how many batches' sums are compared by one query.
const sumsTogether = 64

// checkSums proves that function_sums has the sums of function_rollup, of each batch and as
// both are in its files, whatever counts of it: no other check sees the two together when a
// batch is checked in parts.
func (p *Proof) checkSums(ctx context.Context, store string, batches []storedir.Batch, limits Limits) error {
	limits.Memory -= limits.Memory / 4 // the rest is this program's
	for len(batches) > 0 {
		n := min(len(batches), sumsTogether)
		if err := p.compareSums(ctx, store, batches[:n], limits); err != nil {
			return err
		}
		batches = batches[n:]
	}
	return nil
}

func (p *Proof) compareSums(ctx context.Context, store string, batches []storedir.Batch, limits Limits) error {
	parts := strings.Join(sumsOf(store, batches), " UNION ALL ")
	if parts == "" {
		return nil
	}
	may := access{Limits: limits, most: checkMemory, files: pathsOf(store, batches), locked: true}
	engine, err := connect(may, nil, func(driver.ExecerContext) error { return nil })
	if err != nil {
		return err
	}
	defer engine.Close()
	db := &DB{DB: engine, Store: store}
	wrong, err := db.first(ctx, `SELECT batch, metric, "function", sum(exclusive) AS exclusive, sum(inclusive) AS inclusive FROM (`+parts+`)
		GROUP BY batch, metric, unit, modes, function_key, "function", load_object, module, kind HAVING sum(exclusive) <> 0 OR sum(inclusive) <> 0`)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case undone(err):
		return fmt.Errorf("%s: %w", schema.FunctionSums.Name, err)
	case err != nil:
		p.add(schema.FunctionSums.Name, "cannot be read: %v", err)
	case wrong != "":
		p.add(schema.FunctionSums.Name, "are not the sums of %s (%s)", schema.FunctionRollup.Name, wrong)
	}
	return nil
}

// sumsOf are queries of the rows of batches' files, those of function_rollup as they are and
// those of function_sums below zero.
func sumsOf(store string, batches []storedir.Batch) (parts []string) {
	for i := range batches {
		one := iter.Seq[*storedir.Batch](func(yield func(*storedir.Batch) bool) { yield(&batches[i]) })
		for _, t := range []*schema.Table{schema.FunctionRollup, schema.FunctionSums} {
			sign := ""
			if t == schema.FunctionSums {
				sign = "-"
			}
			if files := filesOf(store, t, one); files.paths != nil {
				exclusive := t.Value(t.Columns[t.Index("exclusive")])
				parts = append(parts, fmt.Sprintf(`SELECT %[1]s AS batch, metric, unit, modes, function_key, "function", load_object, module, kind, %[2]s(%[3]s) AS exclusive, %[2]sinclusive AS inclusive FROM read_parquet(%[4]s) t`,
					quote(batches[i].Batch), sign, exclusive, files))
			}
		}
	}
	return parts
}
