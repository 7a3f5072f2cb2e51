package flight

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql/schema_ref"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"stackmill/queries/serve"
)

// register sets the server's properties and capabilities, which clients can request.
func (a *sqlServer) register() {
	for info, value := range map[flightsql.SqlInfo]any{
		flightsql.SqlInfoFlightSqlServerName:         "stackmill",
		flightsql.SqlInfoFlightSqlServerVersion:      a.from.Version,
		flightsql.SqlInfoFlightSqlServerArrowVersion: arrow.PkgVersion,
		flightsql.SqlInfoFlightSqlServerReadOnly:     true,
		flightsql.SqlInfoFlightSqlServerSql:          true,
		flightsql.SqlInfoFlightSqlServerSubstrait:    false,
		flightsql.SqlInfoFlightSqlServerTransaction:  int32(flightsql.SqlTransactionNone),
		flightsql.SqlInfoFlightSqlServerCancel:       true,
		flightsql.SqlInfoDDLCatalog:                  false,
		flightsql.SqlInfoDDLSchema:                   false,
		flightsql.SqlInfoDDLTable:                    false,
		flightsql.SqlInfoIdentifierQuoteChar:         `"`,
	} {
		if err := a.RegisterSqlInfo(info, value); err != nil {
			panic(err) // only if a value above has the wrong type
		}
	}
}

// listInfo tells a client how to fetch metadata. The ticket is the client's command itself.
func listInfo(d *flight.FlightDescriptor, columns *arrow.Schema) (*flight.FlightInfo, error) {
	return infoOf(d, d.GetCmd(), columns), nil
}

// rowsOf returns the rows as a stream. Their values are strings and bytes.
func rowsOf(ctx context.Context, columns *arrow.Schema, rows [][]any) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	b := array.NewRecordBuilder(memory.DefaultAllocator, columns)
	defer b.Release()
	for _, row := range rows {
		for i, v := range row {
			switch to := b.Field(i).(type) {
			case *array.StringBuilder:
				to.Append(v.(string))
			case *array.BinaryBuilder:
				to.Append(v.([]byte))
			}
		}
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	r, err := array.NewRecordReader(columns, []arrow.RecordBatch{batch})
	if err != nil {
		return nil, nil, err
	}
	return columns, chunksOf(ctx, r, func() {}), nil
}

// listDistinct returns the rows that row makes from the tables for which keep is true, each distinct row once. keep
// may be nil, for all tables.
func (a *sqlServer) listDistinct(ctx context.Context, columns *arrow.Schema, row func(serve.Table) []any, keep func(serve.Table) bool) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	tables, warnings, err := a.from.Tables(ctx)
	if err != nil {
		return nil, nil, statusError(err)
	}
	if err := setWarnings(ctx, warnings); err != nil {
		return nil, nil, err
	}
	var rows [][]any
	for _, t := range tables {
		if keep != nil && !keep(t) {
			continue
		}
		r := row(t)
		if !slices.ContainsFunc(rows, func(other []any) bool { return slices.EqualFunc(other, r, same) }) {
			rows = append(rows, r)
		}
	}
	return rowsOf(ctx, columns, rows)
}

func same(a, b any) bool {
	x, ok := a.(string)
	return ok && x == b
}

// GetFlightInfoCatalogs implements flightsql.Server.
func (a *sqlServer) GetFlightInfoCatalogs(_ context.Context, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return listInfo(d, schema_ref.Catalogs)
}

// DoGetCatalogs implements flightsql.Server.
func (a *sqlServer) DoGetCatalogs(ctx context.Context) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	return a.listDistinct(ctx, schema_ref.Catalogs, func(t serve.Table) []any { return []any{t.Catalog} }, nil)
}

// GetFlightInfoSchemas implements flightsql.Server.
func (a *sqlServer) GetFlightInfoSchemas(_ context.Context, _ flightsql.GetDBSchemas, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return listInfo(d, schema_ref.DBSchemas)
}

// DoGetDBSchemas implements flightsql.Server.
func (a *sqlServer) DoGetDBSchemas(ctx context.Context, q flightsql.GetDBSchemas) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	return a.listDistinct(ctx, schema_ref.DBSchemas, func(t serve.Table) []any { return []any{t.Catalog, t.Schema} }, func(t serve.Table) bool {
		return equal(q.GetCatalog(), t.Catalog) && like(q.GetDBSchemaFilterPattern(), t.Schema)
	})
}

// GetFlightInfoTableTypes implements flightsql.Server.
func (a *sqlServer) GetFlightInfoTableTypes(_ context.Context, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return listInfo(d, schema_ref.TableTypes)
}

// DoGetTableTypes implements flightsql.Server.
func (a *sqlServer) DoGetTableTypes(ctx context.Context) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	return a.listDistinct(ctx, schema_ref.TableTypes, func(t serve.Table) []any { return []any{t.Kind} }, nil)
}

// GetFlightInfoTables implements flightsql.Server.
func (a *sqlServer) GetFlightInfoTables(_ context.Context, q flightsql.GetTables, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return listInfo(d, tablesColumns(q))
}

func tablesColumns(q flightsql.GetTables) *arrow.Schema {
	if q.GetIncludeSchema() {
		return schema_ref.TablesWithIncludedSchema
	}
	return schema_ref.Tables
}

// DoGetTables implements flightsql.Server.
func (a *sqlServer) DoGetTables(ctx context.Context, q flightsql.GetTables) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	kinds := q.GetTableTypes()
	return a.listDistinct(ctx, tablesColumns(q), func(t serve.Table) []any {
		row := []any{t.Catalog, t.Schema, t.Name, t.Kind}
		if q.GetIncludeSchema() {
			row = append(row, flight.SerializeSchema(columnsWithRemarks(t), memory.DefaultAllocator))
		}
		return row
	}, func(t serve.Table) bool {
		return equal(q.GetCatalog(), t.Catalog) && like(q.GetDBSchemaFilterPattern(), t.Schema) && like(q.GetTableNameFilterPattern(), t.Name) &&
			(len(kinds) == 0 || slices.Contains(kinds, t.Kind))
	})
}

// columnsWithRemarks returns the columns of a table. Their descriptions are in the metadata "remarks", which drivers
// read.
func columnsWithRemarks(t serve.Table) *arrow.Schema {
	fields := t.Columns.Fields()
	for i := range fields {
		m := flightsql.NewColumnMetadataBuilder().CatalogName(t.Catalog).SchemaName(t.Schema).TableName(t.Name).IsReadOnly(true)
		if means, ok := fields[i].Metadata.GetValue("comment"); ok {
			m.Remarks(means)
		}
		fields[i].Metadata = m.Metadata()
	}
	return arrow.NewSchema(fields, nil)
}

// equal reports whether name is the wanted one. If want is nil, any name is.
func equal(want *string, name string) bool { return want == nil || *want == name }

// like reports whether name matches a LIKE pattern, whose escape character is the backslash. If pattern is nil, any
// name does.
func like(pattern *string, name string) bool {
	if pattern == nil {
		return true
	}
	quoted := strings.NewReplacer(`\\%`, "%", `\\_`, "_", "%", ".*", "_", ".").Replace(regexp.QuoteMeta(*pattern))
	matches, err := regexp.MatchString("(?s)^"+quoted+"$", name)
	return err == nil && matches
}

// Clients can ask for the keys of tables. Views have none, so the answers are empty.

// GetFlightInfoPrimaryKeys implements flightsql.Server.
func (a *sqlServer) GetFlightInfoPrimaryKeys(_ context.Context, _ flightsql.TableRef, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return listInfo(d, schema_ref.PrimaryKeys)
}

// DoGetPrimaryKeys implements flightsql.Server.
func (a *sqlServer) DoGetPrimaryKeys(ctx context.Context, _ flightsql.TableRef) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	return rowsOf(ctx, schema_ref.PrimaryKeys, nil)
}

// GetFlightInfoExportedKeys implements flightsql.Server.
func (a *sqlServer) GetFlightInfoExportedKeys(_ context.Context, _ flightsql.TableRef, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return listInfo(d, schema_ref.ExportedKeys)
}

// DoGetExportedKeys implements flightsql.Server.
func (a *sqlServer) DoGetExportedKeys(ctx context.Context, _ flightsql.TableRef) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	return rowsOf(ctx, schema_ref.ExportedKeys, nil)
}

// GetFlightInfoImportedKeys implements flightsql.Server.
func (a *sqlServer) GetFlightInfoImportedKeys(_ context.Context, _ flightsql.TableRef, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return listInfo(d, schema_ref.ImportedKeys)
}

// DoGetImportedKeys implements flightsql.Server.
func (a *sqlServer) DoGetImportedKeys(ctx context.Context, _ flightsql.TableRef) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	return rowsOf(ctx, schema_ref.ImportedKeys, nil)
}

// GetFlightInfoCrossReference implements flightsql.Server.
func (a *sqlServer) GetFlightInfoCrossReference(_ context.Context, _ flightsql.CrossTableRef, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return listInfo(d, schema_ref.CrossReference)
}

// DoGetCrossReference implements flightsql.Server.
func (a *sqlServer) DoGetCrossReference(ctx context.Context, _ flightsql.CrossTableRef) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	return rowsOf(ctx, schema_ref.CrossReference, nil)
}
