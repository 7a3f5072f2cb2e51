// Package memo keeps results in maps.
package memo

// Get returns the value of a key. It calls find, and keeps the result, if the map does not have it.
func Get[K comparable, V any](known map[K]V, key K, find func() V) V {
	v, ok := known[key]
	if !ok {
		v = find()
		known[key] = v
	}
	return v
}
