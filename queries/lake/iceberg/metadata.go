package iceberg

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"stackmill/queries/lake"
)

// metadata is the content of a metadata file: one version of a table ("Table Metadata Fields").
type metadata struct {
	FormatVersion      int                    `json:"format-version"`
	UUID               string                 `json:"table-uuid"`
	Location           string                 `json:"location"`
	LastSequenceNumber int64                  `json:"last-sequence-number"`
	LastUpdatedMS      int64                  `json:"last-updated-ms"`
	LastColumnID       int                    `json:"last-column-id"`
	CurrentSchemaID    int                    `json:"current-schema-id"`
	Schemas            []columns              `json:"schemas"`
	DefaultSpecID      int                    `json:"default-spec-id"`
	PartitionSpecs     []partitionSpec        `json:"partition-specs"`
	LastPartitionID    int                    `json:"last-partition-id"`
	DefaultSortOrderID int                    `json:"default-sort-order-id"`
	SortOrders         []sortOrder            `json:"sort-orders"`
	Properties         map[string]string      `json:"properties"`
	CurrentSnapshotID  int64                  `json:"current-snapshot-id,omitempty"`
	Refs               map[string]snapshotRef `json:"refs,omitempty"`
	Snapshots          []snapshot             `json:"snapshots"`
	SnapshotLog        []snapshotLogEntry     `json:"snapshot-log"`
	MetadataLog        []struct{}             `json:"metadata-log"` // always empty: the format requires the field
}

// columns are a version of a table's columns ("Schemas").
type columns struct {
	Type   string   `json:"type"`
	ID     int      `json:"schema-id"`
	Fields []column `json:"fields"`
}

type column struct {
	ID       int    `json:"id"`
	Name     string `json:"name"`
	Required bool   `json:"required"`
	Type     string `json:"type"`
	Doc      string `json:"doc,omitempty"`
}

type partitionSpec struct {
	ID     int        `json:"spec-id"`
	Fields []struct{} `json:"fields"`
}

type sortOrder struct {
	ID     int        `json:"order-id"`
	Fields []struct{} `json:"fields"`
}

// snapshot is the content of a table at one time ("Snapshots").
type snapshot struct {
	ID           int64             `json:"snapshot-id"`
	Parent       int64             `json:"parent-snapshot-id,omitempty"`
	Sequence     int64             `json:"sequence-number"`
	TimestampMS  int64             `json:"timestamp-ms"`
	ManifestList string            `json:"manifest-list"`
	Summary      map[string]string `json:"summary"`
	SchemaID     int               `json:"schema-id"`
}

// snapshotRef is a named reference to a snapshot.
type snapshotRef struct {
	SnapshotID int64  `json:"snapshot-id"`
	Type       string `json:"type"`
}

// snapshotLogEntry records when a snapshot became current.
type snapshotLogEntry struct {
	SnapshotID  int64 `json:"snapshot-id"`
	TimestampMS int64 `json:"timestamp-ms"`
}

// types maps lake.Types to the names of types in Iceberg's specification ("Primitive Types").
var types = map[string]string{"VARCHAR": "string", "BIGINT": "long", "INTEGER": "int", "BOOLEAN": "boolean", "DOUBLE": "double", "TIMESTAMP WITH TIME ZONE": "timestamptz"}

func (m *metadata) decode(text []byte) error {
	if err := json.Unmarshal(text, m); err != nil {
		return err
	}
	if m.FormatVersion != 2 || m.columns() == nil {
		return fmt.Errorf("not metadata of version 2 of the format, or its current columns are missing")
	}
	return nil
}

func (m *metadata) encode() ([]byte, error) { return json.MarshalIndent(m, "", " ") }

// columns returns the current columns, or nil if there are none.
func (m *metadata) columns() *columns {
	at := slices.IndexFunc(m.Schemas, func(c columns) bool { return c.ID == m.CurrentSchemaID })
	if at < 0 {
		return nil
	}
	return &m.Schemas[at]
}

// successor returns the metadata that follows m, with the columns of a table. A column keeps its id while its name
// and type stay the same; ids are never reused ("Schema Evolution").
func (m *metadata) successor(t lake.Table, location string) (next metadata, err error) {
	next = *m
	if m.FormatVersion == 0 {
		next = metadata{FormatVersion: 2, UUID: uuid.NewString(), LastPartitionID: 999,
			PartitionSpecs: []partitionSpec{{Fields: []struct{}{}}}, SortOrders: []sortOrder{{Fields: []struct{}{}}},
			Snapshots: []snapshot{}, SnapshotLog: []snapshotLogEntry{}, MetadataLog: []struct{}{}, Schemas: []columns{}}
	}
	next.Location = location
	next.LastUpdatedMS = max(time.Now().UnixMilli(), m.LastUpdatedMS+1)
	now := columns{Type: "struct", Fields: []column{}}
	var mapping []nameMapping
	for _, c := range t.Columns {
		of, ok := types[c.Type]
		if !ok {
			return next, fmt.Errorf("column %s: the format has no type %s", c.Name, c.Type)
		}
		id := m.idOf(c.Name, of)
		if id == 0 {
			next.LastColumnID++
			id = next.LastColumnID
		}
		now.Fields = append(now.Fields, column{ID: id, Name: c.Name, Type: of, Doc: c.Doc})
		mapping = append(mapping, nameMapping{id, []string{c.Name}})
	}
	if old := m.columns(); old == nil || !slices.Equal(old.Fields, now.Fields) {
		for _, s := range m.Schemas {
			now.ID = max(now.ID, s.ID+1)
		}
		next.Schemas = append(slices.Clone(m.Schemas), now)
		next.CurrentSchemaID = now.ID
	}
	text, err := json.Marshal(mapping)
	next.Properties = map[string]string{
		"comment":                     t.Doc,
		"schema.name-mapping.default": string(text),
		// Engines must neither delete nor rewrite the store's files.
		"gc.enabled": "false",
	}
	if t.Delta {
		// Spark's vectorized reader does not support delta encodings before Iceberg 1.10.
		next.Properties["read.parquet.vectorization.enabled"] = "false"
	}
	return next, err
}

// idOf returns the id of the current column with this name and type, or 0 if there is none.
func (m *metadata) idOf(name, of string) int {
	if c := m.columns(); c != nil {
		for _, f := range c.Fields {
			if f.Name == name && f.Type == of {
				return f.ID
			}
		}
	}
	return 0
}

// equalShape reports whether two versions of a table have the same columns, properties and location.
func (m *metadata) equalShape(other *metadata) bool {
	return m.CurrentSchemaID == other.CurrentSchemaID && m.Location == other.Location && maps.Equal(m.Properties, other.Properties)
}

// nameMapping maps a column's name to its id ("Column Projection").
type nameMapping struct {
	ID    int      `json:"field-id"`
	Names []string `json:"names"`
}

// summary returns the counts of a snapshot's content and of its changes ("Snapshot Summary Fields").
func summary(entries []entry) map[string]string {
	n := map[string]int64{}
	removes := false
	for _, e := range entries {
		kind, counted, total := "data", "records", "total-records"
		if e.DataFile.Content == deletedPositions {
			kind, counted, total = "delete", "position-deletes", "total-position-deletes"
		}
		if e.Status == added {
			n["added-"+kind+"-files"]++
			n["added-"+counted] += e.DataFile.RecordCount
			n["added-files-size"] += e.DataFile.FileSizeInBytes
		}
		if e.Status == deleted {
			word := map[string]string{"data": "deleted-", "delete": "removed-"}[kind]
			n[word+kind+"-files"]++
			n[word+counted] += e.DataFile.RecordCount
			n["removed-files-size"] += e.DataFile.FileSizeInBytes
			continue
		}
		n["total-"+kind+"-files"]++
		n[total] += e.DataFile.RecordCount
		n["total-files-size"] += e.DataFile.FileSizeInBytes
	}
	removes = n["deleted-data-files"]+n["added-delete-files"]+n["removed-delete-files"] > 0
	for _, name := range []string{"total-data-files", "total-delete-files", "total-records", "total-files-size", "total-position-deletes", "total-equality-deletes"} {
		n[name] += 0
	}
	all := map[string]string{"operation": "append"}
	if removes {
		all["operation"] = "overwrite"
	}
	for name, value := range n {
		all[name] = strconv.FormatInt(value, 10)
	}
	return all
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
