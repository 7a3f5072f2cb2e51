// Package cachekey makes keys of caches and maps from several values. Two keys are equal only if
// all their values are. Each value is encoded with its kind and, where it has one, its length, so
// that no string can run into the next one.
package cachekey

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"slices"
)

// Of returns the key of values: strings, numbers, booleans, and lists, maps and structs of these.
// Nil lists and maps count as empty. It panics on kinds without a value: functions, channels,
// pointers.
func Of(values ...any) string { return string(appendAll(nil, values)) }

// Hash returns the key of values as 32 hex digits, for names of files and tags.
func Hash(values ...any) string {
	sum := sha256.Sum256(appendAll(nil, values))
	return hex.EncodeToString(sum[:16])
}

// The first byte of an encoded value says its kind. A signed number never equals an unsigned one.
const (
	isText   = 's'
	isTrue   = 'y'
	isFalse  = 'n'
	isInt    = 'i'
	isUint   = 'u'
	isFloat  = 'f'
	isList   = 'l'
	isMap    = 'm'
	isStruct = 't'
	isNil    = '0'
)

func appendAll(b []byte, values []any) []byte {
	b = binary.AppendUvarint(b, uint64(len(values)))
	for _, v := range values {
		b = appendValue(b, reflect.ValueOf(v))
	}
	return b
}

func appendValue(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Invalid:
		return append(b, isNil)
	case reflect.Interface:
		return appendValue(b, v.Elem())
	case reflect.String:
		b = binary.AppendUvarint(append(b, isText), uint64(v.Len()))
		return append(b, v.String()...)
	case reflect.Bool:
		if v.Bool() {
			return append(b, isTrue)
		}
		return append(b, isFalse)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(append(b, isInt), v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return binary.AppendUvarint(append(b, isUint), v.Uint())
	case reflect.Float32, reflect.Float64:
		return binary.BigEndian.AppendUint64(append(b, isFloat), math.Float64bits(v.Float()))
	case reflect.Slice, reflect.Array:
		b = binary.AppendUvarint(append(b, isList), uint64(v.Len()))
		for i := range v.Len() {
			b = appendValue(b, v.Index(i))
		}
		return b
	case reflect.Struct:
		b = binary.AppendUvarint(append(b, isStruct), uint64(v.NumField()))
		for i := range v.NumField() {
			b = appendValue(b, v.Field(i))
		}
		return b
	case reflect.Map:
		return appendMap(b, v)
	}
	panic(fmt.Sprintf("key: a value of type %s has no key", v.Type()))
}

// appendMap writes the pairs of a map, sorted by their encoded keys.
func appendMap(b []byte, v reflect.Value) []byte {
	pairs := make([][]byte, 0, v.Len())
	for pair := v.MapRange(); pair.Next(); {
		pairs = append(pairs, appendValue(appendValue(nil, pair.Key()), pair.Value()))
	}
	slices.SortFunc(pairs, bytes.Compare)
	b = binary.AppendUvarint(append(b, isMap), uint64(len(pairs)))
	return append(b, bytes.Join(pairs, nil)...)
}
