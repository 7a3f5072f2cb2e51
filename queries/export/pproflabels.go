package export

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// labelsOf returns labels that say where a sample was taken, as pairs of key and value.
func (p *pprofWriter) labelsOf(s *sample) (labels [][2]string) {
	if s.thread != 0 {
		labels = append(labels, [2]string{"thread", strconv.FormatInt(s.thread, 10)})
	}
	if s.name != "" {
		labels = append(labels, [2]string{"thread_name", s.name})
	}
	if s.cgroup != "" {
		labels = append(labels, [2]string{"cgroup", s.cgroup})
	}
	if of := p.e.processes[s.process]; of.pid != 0 {
		labels = append(labels, [2]string{"pid", strconv.FormatInt(of.pid, 10)})
	}
	if p.multiple {
		labels = append(labels, [2]string{"experiment", p.e.name})
	}
	return append(labels, p.e.labels...)
}

// recordedLabels adds the labels that the profiler recorded with a sample: strings, and numbers with units.
func (p *pprofWriter) recordedLabels(m *message, labels string) error {
	if labels == "" {
		return nil
	}
	object := map[string]any{}
	d := json.NewDecoder(strings.NewReader(labels))
	d.UseNumber()
	if err := d.Decode(&object); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		list, several := object[key].([]any)
		if !several {
			list = []any{object[key]}
		}
		for _, v := range list {
			m.bytes(3, p.label(key, v))
		}
	}
	return nil
}

// label returns the message of a label that the profiler recorded.
func (p *pprofWriter) label(key string, value any) (m message) {
	m.number(1, p.strings.intern(key))
	switch v := value.(type) {
	case string:
		m.number(2, p.strings.intern(v))
	case json.Number:
		n, _ := v.Int64() // the store has only integers
		m.number(3, n)
	case map[string]any:
		n, _ := v["num"].(json.Number)
		unit, _ := v["unit"].(string)
		number, _ := n.Int64()
		m.number(3, number)
		m.number(4, p.strings.intern(unit))
	}
	return m
}
