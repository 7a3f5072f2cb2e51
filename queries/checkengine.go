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

// readTogether is how many batches one query of a check reads.
const readTogether = 64

// checkByEngine compares what the SQL engine reads from batches with the statistics in their files.
// It also checks that each batch's function_sums are the sums of its function_rollup, for all
// experiments together: the other checks see visible experiments only.
func (p *CheckReport) checkByEngine(ctx context.Context, store string, batches []storedir.Batch, limits Limits) error {
	for part := range slices.Chunk(batches, readTogether) {
		if err := p.checkPartByEngine(ctx, store, part, limits); err != nil {
			return err
		}
	}
	return nil
}

func (p *CheckReport) checkPartByEngine(ctx context.Context, store string, batches []storedir.Batch, limits Limits) error {
	config, err := checkConfig(store, batches, limits)
	if err != nil {
		return err
	}
	engine, err := connect(config, nil, func(driver.ExecerContext) error { return nil })
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
		if err := p.unreadable(ctx, t, p.checkStatistics(ctx, db, t, files)); err != nil {
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

// unreadable reports that a table cannot be read. It returns errors that say nothing about the table,
// such as a failure of this machine.
func (p *CheckReport) unreadable(ctx context.Context, t *schema.Table, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case isInconclusive(err):
		return fmt.Errorf("%s: %w", t.Name, err)
	case err != nil:
		p.add(t.Name, "cannot be read: %v", err)
	}
	return nil
}

// sumsOf returns queries for the rows of function_rollup, and of function_sums with negative
// values. All together must add up to 0.
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
