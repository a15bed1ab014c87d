package writer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/flow-agents/flow-agents/runtime/disk"
)

// maxFile is the largest file in bytes that is read back.
const maxFile = 1 << 20

// A document is a JSON object whose members keep their order, so that what
// other tools have put in a file stays where and as it is.
type document struct{ members []member }

type member struct {
	key string
	raw json.RawMessage
}

// get decodes a member into v; false if there is none, or none of that type.
func (d *document) get(key string, v any) bool {
	i := d.index(key)
	return i >= 0 && json.Unmarshal(d.members[i].raw, v) == nil
}

// objects decodes a member that is a list of objects; nil if there is none.
func (d *document) objects(key string) ([]*document, error) {
	i := d.index(key)
	if i < 0 {
		return nil, nil
	}
	var raws []json.RawMessage
	if err := json.Unmarshal(d.members[i].raw, &raws); err != nil || raws == nil {
		return nil, fmt.Errorf("%s must be a list of objects", key)
	}
	out := make([]*document, len(raws))
	for i, raw := range raws {
		out[i] = &document{}
		if err := out[i].UnmarshalJSON(raw); err != nil {
			return nil, fmt.Errorf("%s must be a list of objects", key)
		}
	}
	return out, nil
}

// set replaces a member, or adds one at the end.
func (d *document) set(key string, v any) {
	raw := encode(v)
	if i := d.index(key); i >= 0 {
		d.members[i].raw = raw
		return
	}
	d.members = append(d.members, member{key, raw})
}

func (d *document) remove(key string) {
	d.members = slices.DeleteFunc(d.members, func(m member) bool { return m.key == key })
}

func (d *document) index(key string) int {
	return slices.IndexFunc(d.members, func(m member) bool { return m.key == key })
}

// encode is v as JSON that keeps <, > and & readable.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // strings, numbers, and lists and maps of them
	}
	return bytes.TrimSpace(b.Bytes())
}

// MarshalJSON writes the members in their order.
func (d *document) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range d.members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, encode(m.key)...)
		b = append(b, ':')
		b = append(b, m.raw...)
	}
	return append(b, '}'), nil
}

// UnmarshalJSON reads an object; of two members of one name the last counts,
// as it does for every other reader.
func (d *document) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return errors.New("it is not a JSON object")
	}
	d.members = nil
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		name, _ := key.(string)
		d.remove(name)
		d.members = append(d.members, member{name, raw})
	}
	return nil
}

// read returns the document of a file; an empty one if there is no file.
func (w *Writer) read(path string) (*document, error) {
	d := &document{}
	data, err := disk.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err == nil {
		err = json.Unmarshal(data, d)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; mend or remove it, nothing was written", w.show(path), err)
	}
	return d, nil
}

// write replaces a file as a whole.
func (w *Writer) write(path string, d *document) error {
	var b bytes.Buffer
	raw, err := d.MarshalJSON()
	if err == nil {
		err = json.Indent(&b, raw, "", "  ")
	}
	if err == nil && b.Len() >= maxFile {
		err = fmt.Errorf("it would have more than %d bytes, which nobody would read; nothing was written", maxFile)
	}
	if err == nil {
		b.WriteByte('\n')
		err = disk.Write(path, b.Bytes())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", w.show(path), err)
	}
	return nil
}

// show is a path as the user knows it: below the root.
func (w *Writer) show(path string) string {
	if rel, err := filepath.Rel(w.root, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}
