package iceberg

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/google/uuid"
	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"
)

// The status of a file in a snapshot ("Manifest Entry Fields").
const (
	existing int32 = iota
	added
	deleted
)

// What a file contains.
const (
	dataRows         int32 = iota
	deletedPositions       // positions of deleted rows in a data file
)

// manifestNames are parts of the names of manifest files, by what the files that they list contain.
var manifestNames = []string{"data", "deletes"}

// entry is a file in a manifest.
type entry struct {
	Status             int32    `avro:"status"`
	SnapshotID         *int64   `avro:"snapshot_id"` // the snapshot that added or deleted the file
	SequenceNumber     *int64   `avro:"sequence_number"`
	FileSequenceNumber *int64   `avro:"file_sequence_number"`
	DataFile           dataFile `avro:"data_file"`
}

// dataFile is a file of a table ("Data File Fields").
type dataFile struct {
	Content         int32    `avro:"content"`
	FilePath        string   `avro:"file_path"`
	FileFormat      string   `avro:"file_format"`
	Partition       struct{} `avro:"partition"`
	RecordCount     int64    `avro:"record_count"`
	FileSizeInBytes int64    `avro:"file_size_in_bytes"`
	LowerBounds     *[]bound `avro:"lower_bounds"`
	UpperBounds     *[]bound `avro:"upper_bounds"`
}

// bound is the lowest or highest value of a column, whose id is Key.
type bound struct {
	Key   int32  `avro:"key"`
	Value []byte `avro:"value"`
}

// filePath is the id of the column file_path in files of deleted positions: the data file that a position is in.
const filePath = 2147483546

// setReferencedFile says that all positions in a file of deleted positions are in the data file `of`. It does so by
// equal bounds of file_path. Then readers of other data files need not open this file.
func (d *dataFile) setReferencedFile(of string) {
	if of != "" {
		list := []bound{{filePath, []byte(of)}}
		d.LowerBounds, d.UpperBounds = &list, &list
	}
}

const entrySchema = `{"type":"record","name":"manifest_entry","fields":[
{"name":"status","type":"int","field-id":0},
{"name":"snapshot_id","type":["null","long"],"default":null,"field-id":1},
{"name":"sequence_number","type":["null","long"],"default":null,"field-id":3},
{"name":"file_sequence_number","type":["null","long"],"default":null,"field-id":4},
{"name":"data_file","field-id":2,"type":{"type":"record","name":"r2","fields":[
{"name":"content","type":"int","field-id":134},
{"name":"file_path","type":"string","field-id":100},
{"name":"file_format","type":"string","field-id":101},
{"name":"partition","type":{"type":"record","name":"r102","fields":[]},"field-id":102},
{"name":"record_count","type":"long","field-id":103},
{"name":"file_size_in_bytes","type":"long","field-id":104},
{"name":"lower_bounds","default":null,"field-id":125,"type":["null",{"type":"array","logicalType":"map","items":{"type":"record","name":"k126_v127","fields":[
{"name":"key","type":"int","field-id":126},{"name":"value","type":"bytes","field-id":127}]}}]},
{"name":"upper_bounds","default":null,"field-id":128,"type":["null",{"type":"array","logicalType":"map","items":{"type":"record","name":"k129_v130","fields":[
{"name":"key","type":"int","field-id":129},{"name":"value","type":"bytes","field-id":130}]}}]}
]}}]}`

// manifest describes a manifest file in the list of a snapshot ("Manifest Lists").
type manifest struct {
	Path              string `avro:"manifest_path"`
	Length            int64  `avro:"manifest_length"`
	PartitionSpecID   int32  `avro:"partition_spec_id"`
	Content           int32  `avro:"content"`
	SequenceNumber    int64  `avro:"sequence_number"`
	MinSequenceNumber int64  `avro:"min_sequence_number"`
	AddedSnapshotID   int64  `avro:"added_snapshot_id"`
	AddedFiles        int32  `avro:"added_files_count"`
	ExistingFiles     int32  `avro:"existing_files_count"`
	DeletedFiles      int32  `avro:"deleted_files_count"`
	AddedRows         int64  `avro:"added_rows_count"`
	ExistingRows      int64  `avro:"existing_rows_count"`
	DeletedRows       int64  `avro:"deleted_rows_count"`
}

const manifestSchema = `{"type":"record","name":"manifest_file","fields":[
{"name":"manifest_path","type":"string","field-id":500},
{"name":"manifest_length","type":"long","field-id":501},
{"name":"partition_spec_id","type":"int","field-id":502},
{"name":"content","type":"int","field-id":517},
{"name":"sequence_number","type":"long","field-id":515},
{"name":"min_sequence_number","type":"long","field-id":516},
{"name":"added_snapshot_id","type":"long","field-id":503},
{"name":"added_files_count","type":"int","field-id":504},
{"name":"existing_files_count","type":"int","field-id":505},
{"name":"deleted_files_count","type":"int","field-id":506},
{"name":"added_rows_count","type":"long","field-id":512},
{"name":"existing_rows_count","type":"long","field-id":513},
{"name":"deleted_rows_count","type":"long","field-id":514}
]}`

// count counts a file and its rows in the description of a manifest.
func (m *manifest) count(e entry) {
	switch e.Status {
	case added:
		m.AddedFiles++
		m.AddedRows += e.DataFile.RecordCount
	case existing:
		m.ExistingFiles++
		m.ExistingRows += e.DataFile.RecordCount
	default:
		m.DeletedFiles++
		m.DeletedRows += e.DataFile.RecordCount
	}
	if e.Status != deleted {
		m.MinSequenceNumber = min(m.MinSequenceNumber, *e.SequenceNumber)
	}
}

// writeManifest writes a manifest: entries for those files of a snapshot that contain the same kind of data.
func (w *writer) writeManifest(name string, content int32, s snapshot, entries []entry) (manifest, error) {
	m := manifest{Path: w.location + "/metadata/" + name, Content: content, SequenceNumber: s.Sequence, MinSequenceNumber: s.Sequence, AddedSnapshotID: s.ID}
	for _, e := range entries {
		m.count(e)
	}
	columns, err := json.Marshal(w.next.columns())
	if err != nil {
		return m, err
	}
	m.Length, err = writeAvro(w, name, entrySchema, map[string]string{
		"schema": string(columns), "schema-id": strconv.Itoa(s.SchemaID), "partition-spec": "[]", "partition-spec-id": "0",
		"format-version": "2", "content": manifestNames[content],
	}, entries)
	return m, err
}

// writeList writes the file that lists the manifests of a snapshot.
func (w *writer) writeList(name string, s snapshot, manifests []manifest) error {
	about := map[string]string{"snapshot-id": strconv.FormatInt(s.ID, 10), "sequence-number": strconv.FormatInt(s.Sequence, 10), "format-version": "2", "parent-snapshot-id": "null"}
	if s.Parent != 0 {
		about["parent-snapshot-id"] = strconv.FormatInt(s.Parent, 10)
	}
	_, err := writeAvro(w, name, manifestSchema, about, manifests)
	return err
}

// writeAvro writes records to an Avro file and returns its size in bytes (Avro's specification, "Object Container
// Files"). The file is not compressed; some readers require that it says so.
func writeAvro[T any](w *writer, name, schema string, about map[string]string, records []T) (int64, error) {
	s, err := avro.Parse(schema)
	if err != nil {
		return 0, err
	}
	header := map[string][]byte{"avro.schema": []byte(schema), "avro.codec": []byte("null")}
	for k, v := range about {
		header[k] = []byte(v)
	}
	mark := uuid.New()
	text, err := headerSchema.AppendEncode([]byte("Obj\x01"), header)
	if err != nil {
		return 0, err
	}
	text = append(text, mark[:]...)
	if len(records) > 0 {
		var block []byte
		for i := range records {
			if block, err = s.AppendEncode(block, &records[i]); err != nil {
				return 0, err
			}
		}
		text = binary.AppendVarint(text, int64(len(records)))
		text = binary.AppendVarint(text, int64(len(block)))
		text = append(append(text, block...), mark[:]...)
	}
	return int64(len(text)), w.replaceFile(name, text)
}

// headerSchema is the schema of the header of an Avro file.
var headerSchema = avro.MustParse(`{"type":"map","values":"bytes"}`)

// readEntries returns the files of a snapshot, by path.
func (w *writer) readEntries(id int64) (map[string]entry, error) {
	all := map[string]entry{}
	for _, kind := range manifestNames {
		path := filepath.Join(w.dir, fmt.Sprintf("%d-%s.avro", id, kind))
		err := readAvro(path, func(e entry) error {
			if e.SequenceNumber == nil || e.SnapshotID == nil {
				return errors.New("an entry lacks its sequence number or its snapshot")
			}
			if e.Status != deleted {
				all[e.DataFile.FilePath] = e
			}
			return nil
		})
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w (empty the lake's folder to export everything again)", path, err)
		}
	}
	return all, nil
}

// readAvro calls yield for each record of an Avro file.
func readAvro[T any](path string, yield func(T) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := ocf.NewReader(f)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		var record T
		switch err := r.Decode(&record); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := yield(record); err != nil {
			return err
		}
	}
}
