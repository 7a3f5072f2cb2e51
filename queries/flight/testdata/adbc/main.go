// Program adbc queries a server through the ADBC driver for Flight SQL; ADBC's drivers for Python, R and other
// languages are built from the same code. Its arguments are an address, a password and statements. It prints the rows
// of each statement as JSON, and which tables can be read.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-adbc/go/adbc/driver/flightsql"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, address, password string, statements []string) error {
	db, err := flightsql.NewDriver(memory.DefaultAllocator).NewDatabase(map[string]string{
		adbc.OptionKeyURI: address, adbc.OptionKeyUsername: "anybody", adbc.OptionKeyPassword: password,
	})
	if err != nil {
		return err
	}
	defer db.Close()
	c, err := db.Open(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, text := range statements {
		for _, prepared := range []bool{false, true} {
			s, err := c.NewStatement()
			if err != nil {
				return err
			}
			if err := s.SetSqlQuery(text); err != nil {
				return err
			}
			if prepared {
				if err := s.Prepare(ctx); err != nil {
					return fmt.Errorf("prepare %s: %w", text, err)
				}
			}
			r, _, err := s.ExecuteQuery(ctx)
			if err != nil {
				return fmt.Errorf("execute %s: %w", text, err)
			}
			if err := print(r); err != nil {
				return err
			}
			if err := s.Close(); err != nil {
				return err
			}
		}
	}
	columns, err := c.GetTableSchema(ctx, nil, nil, "function_metrics")
	if err != nil {
		return err
	}
	fmt.Println(columns.Field(0).Name, columns.Field(0).Type, columns.NumFields())
	objects, err := c.GetObjects(ctx, adbc.ObjectDepthColumns, nil, nil, nil, nil, nil)
	if err != nil {
		return err
	}
	return print(objects)
}

// print prints each row as a line of JSON.
func print(r array.RecordReader) error {
	defer r.Release()
	for r.Next() {
		text, err := json.Marshal(r.RecordBatch())
		if err != nil {
			return err
		}
		fmt.Println(string(text))
	}
	return r.Err()
}
