package queries

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"

	"stackmill/schema"
	"stackmill/schema/storedir"
)

// readTogether is how many batches the SQL engine reads by one query.
const readTogether = 64

// checkByEngine compares what the SQL engine reads of batches with what their files say, and
// proves that function_sums has the sums of function_rollup, of each batch and as both are in
// its files, whatever counts of it: no other check sees the two together when a batch is
// checked in parts.
func (p *Proof) checkByEngine(ctx context.Context, store string, batches []storedir.Batch, limits Limits) error {
	limits.Memory -= limits.Memory / 4 // the rest is this program's
	for part := range slices.Chunk(batches, readTogether) {
		if err := p.checkPartByEngine(ctx, store, part, limits); err != nil {
			return err
		}
	}
	return nil
}

func (p *Proof) checkPartByEngine(ctx context.Context, store string, batches []storedir.Batch, limits Limits) error {
	files, err := readablePaths(store, filesIn(batches), false)
	if err != nil {
		return err
	}
	may := access{Limits: limits, most: checkMemory, files: files, locked: true}
	engine, err := connect(may, nil, func(driver.ExecerContext) error { return nil })
	if err != nil {
		return err
	}
	defer engine.Close()
	db := &DB{DB: engine, Store: store}
	for _, t := range schema.Tables {
		files := filesOf(store, t, addresses(batches))
		if files.paths == nil {
			continue
		}
		if err := p.unreadable(ctx, t, p.checkRead(ctx, db, t, files)); err != nil {
			return err
		}
	}
	parts := strings.Join(sumsOf(store, batches), " UNION ALL ")
	if parts == "" {
		return nil
	}
	wrong, err := db.first(ctx, `SELECT batch, metric, "function", sum(exclusive) AS exclusive, sum(inclusive) AS inclusive FROM (`+parts+`)
		GROUP BY batch, metric, unit, in_user, in_expert, in_machine, in_user_inlined, in_expert_inlined, in_machine_inlined, function_key, "function", load_object, module, kind HAVING sum(exclusive) <> 0 OR sum(inclusive) <> 0`)
	if wrong != "" {
		p.add(schema.FunctionSums.Name, "are not the sums of %s (%s)", schema.FunctionRollup.Name, wrong)
	}
	return p.unreadable(ctx, schema.FunctionSums, err)
}

// unreadable notes that a table could not be read, unless the error is that it could not be checked.
func (p *Proof) unreadable(ctx context.Context, t *schema.Table, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case undone(err):
		return fmt.Errorf("%s: %w", t.Name, err)
	case err != nil:
		p.add(t.Name, "cannot be read: %v", err)
	}
	return nil
}

// sumsOf are queries of the rows of batches' files, those of function_rollup as they are and
// those of function_sums below zero.
func sumsOf(store string, batches []storedir.Batch) (parts []string) {
	for i := range batches {
		one := addresses(batches[i : i+1])
		for _, t := range []*schema.Table{schema.FunctionRollup, schema.FunctionSums} {
			sign := ""
			if t == schema.FunctionSums {
				sign = "-"
			}
			if files := filesOf(store, t, one); files.paths != nil {
				parts = append(parts, fmt.Sprintf(`SELECT %[1]s AS batch, metric, unit, in_user, in_expert, in_machine, in_user_inlined, in_expert_inlined, in_machine_inlined, function_key, "function", load_object, module, kind, %[2]sexclusive AS exclusive, %[2]sinclusive AS inclusive FROM %[3]s`,
					quote(batches[i].Batch), sign, files.read()))
			}
		}
	}
	return parts
}
