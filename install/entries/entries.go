// Package entries merges our hooks into a host's config, finds them there, and
// takes them out again. What is not ours is never touched.
package entries

import (
	"fmt"
	"slices"

	"github.com/tailscale/hujson"

	"github.com/flow-agents/flow-agents/install/jsonedit"
)

// Shapes of a file's hooks.
const (
	Nested = "nested" // event -> groups -> hooks
	Flat   = "flat"   // event -> hooks
	List   = "list"   // one array of hooks that name their trigger
)

// hooksKey holds the hooks in a file of every shape.
const hooksKey = "hooks"

// A Merger joins one source, a whole file with only our entries, with the files
// of users.
type Merger struct {
	Shape string
	Owner Owner
	// Source is the file as the host would see it with only our entries.
	Source *jsonedit.Doc
}

// A slot is one array that holds hooks or groups of hooks.
type slot struct {
	path jsonedit.Path
	// want are our elements of it, in order.
	want []hujson.Value
}

// slots lists the arrays that the source fills.
func (m Merger) slots() []slot {
	var out []slot
	for _, path := range m.arrays(m.Source) {
		s := slot{path: path}
		for i := range m.Source.Len(path...) {
			s.want = append(s.want, m.Source.Raw(path.With(i)...))
		}
		out = append(out, s)
	}
	return out
}

// arrays lists the places of the arrays of hooks in a document.
func (m Merger) arrays(doc *jsonedit.Doc) []jsonedit.Path {
	if m.Shape == List {
		return []jsonedit.Path{{hooksKey}}
	}
	var out []jsonedit.Path
	for _, event := range doc.Keys(hooksKey) {
		out = append(out, jsonedit.Path{hooksKey, event})
	}
	return out
}

// Merge puts our entries into doc, last in each array, and returns the places
// of the containers that it created. Older versions of our entries are brought
// up to date where they stand. A file that is no fit place for our entries is
// an error, and doc may not be written then.
func (m Merger) Merge(doc *jsonedit.Doc) (created []string, err error) {
	if err := m.check(doc); err != nil {
		return nil, err
	}
	for _, key := range m.Source.Keys() {
		if key == hooksKey {
			if !doc.Has(hooksKey) {
				created = append(created, hooksKey)
				empty := hujson.Value{Value: &hujson.Object{}}
				if m.Shape == List {
					empty.Value = &hujson.Array{}
				}
				if err := doc.Put(nil, hooksKey, empty); err != nil {
					return nil, err
				}
			}
			continue
		}
		if doc.Has(key) {
			continue
		}
		created = append(created, key)
		if err := doc.Put(nil, key, m.Source.Raw(key)); err != nil {
			return nil, err
		}
	}
	slots := m.slots()
	for _, s := range slots {
		if !doc.Has(s.path...) {
			created = append(created, s.path.String())
			key := s.path[len(s.path)-1].(string)
			all := hujson.Array{Elements: s.want}
			if err := doc.Put(s.path[:len(s.path)-1], key, hujson.Value{Value: &all}); err != nil {
				return nil, err
			}
			continue
		}
		if err := m.update(doc, s); err != nil {
			return nil, err
		}
	}
	return created, m.retire(doc, slots)
}

// retire removes our entries from events that the source no longer has.
func (m Merger) retire(doc *jsonedit.Doc, slots []slot) error {
	for _, path := range m.arrays(doc) {
		if slices.ContainsFunc(slots, func(s slot) bool { return s.path.String() == path.String() }) {
			continue
		}
		n, err := m.empty(doc, path)
		if err != nil {
			return err
		}
		if n > 0 && doc.Len(path...) == 0 {
			if err := doc.Delete(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// check refuses a document that has no place for our entries.
func (m Merger) check(doc *jsonedit.Doc) error {
	if doc.Kind() != '{' {
		return doc.Errorf(nil, "is %s, not an object; the host can't read settings from it", kindName(doc.Kind()))
	}
	for _, key := range m.Source.Keys() {
		if err := doc.Unique(nil, key); err != nil {
			return err
		}
		if key == hooksKey || !doc.Has(key) {
			continue
		}
		if !jsonedit.Equal(doc.Raw(key), m.Source.Raw(key)) {
			return doc.Errorf(jsonedit.Path{key}, "is %s, but our hooks are written for %s; change it or move the file away",
				canonical(doc.Decoded(key)), canonical(m.Source.Decoded(key)))
		}
	}
	wantHooks := hujson.Kind('{')
	if m.Shape == List {
		wantHooks = '['
	}
	if k := doc.Kind(hooksKey); k != 0 && k != wantHooks {
		return doc.Errorf(jsonedit.Path{hooksKey}, "is %s, not %s; correct or remove it", kindName(k), kindName(wantHooks))
	}
	for _, s := range m.slots() {
		if len(s.path) > 1 {
			if err := doc.Unique(s.path[:1], s.path[1].(string)); err != nil {
				return err
			}
		}
		k := doc.Kind(s.path...)
		if k == 0 {
			continue
		}
		if k != '[' {
			return doc.Errorf(s.path, "is %s, not an array; correct or remove it", kindName(k))
		}
		for i := range doc.Len(s.path...) {
			if k := doc.Kind(s.path.With(i)...); k != '{' {
				return doc.Errorf(s.path.With(i), "is %s, not an object; correct or remove it", kindName(k))
			}
		}
	}
	return nil
}

// Malformed lists entries that are not ours and that a host can't read: it may
// drop the whole file for them.
func (m Merger) Malformed(doc *jsonedit.Doc) []*jsonedit.Error {
	var out []*jsonedit.Error
	if m.Shape == List {
		return nil
	}
	for _, path := range m.arrays(doc) {
		if k := doc.Kind(path...); k != '[' {
			out = append(out, doc.Errorf(path, "is %s, not an array; the host may ignore this entry or the whole file; it is left as it is", kindName(k)))
			continue
		}
		for i := range doc.Len(path...) {
			if k := doc.Kind(path.With(i)...); k != '{' {
				out = append(out, doc.Errorf(path.With(i), "is %s, not an object; the host may ignore this entry or the whole file; it is left as it is", kindName(k)))
			}
		}
	}
	return out
}

// update makes our elements of an array that exists what the source has.
func (m Merger) update(doc *jsonedit.Doc, s slot) error {
	if m.Shape == Nested {
		if done, err := m.updateGroups(doc, s); done || err != nil {
			return err
		}
	} else if done, err := m.updateHooks(doc, s); done || err != nil {
		return err
	}
	if _, err := m.empty(doc, s.path); err != nil {
		return err
	}
	for _, v := range s.want {
		if err := doc.Append(s.path, v); err != nil {
			return err
		}
	}
	return nil
}

// updateHooks brings our hooks in one array up to date in place. It does
// nothing if they are not as many as wanted.
func (m Merger) updateHooks(doc *jsonedit.Doc, s slot) (done bool, err error) {
	own := m.owned(doc, s.path)
	if len(own) != len(s.want) {
		return false, nil
	}
	for i, at := range own {
		path := s.path.With(at)
		if jsonedit.Equal(doc.Raw(path...), s.want[i]) {
			continue
		}
		if err := doc.Replace(path, s.want[i]); err != nil {
			return false, err
		}
	}
	return true, nil
}

// updateGroups does the same for groups of hooks. It does nothing unless each
// wanted group has a group to itself, because a hook of ours inside a user's
// group only runs when that group's matcher lets it.
func (m Merger) updateGroups(doc *jsonedit.Doc, s slot) (done bool, err error) {
	var groups []jsonedit.Path
	for i := range doc.Len(s.path...) {
		group := s.path.With(i)
		own, all := len(m.owned(doc, group.With(hooksKey))), doc.Len(group.With(hooksKey)...)
		switch {
		case own == 0:
		case own < all:
			return false, nil
		default:
			groups = append(groups, group)
		}
	}
	if len(groups) != len(s.want) {
		return false, nil
	}
	for i, group := range groups {
		if jsonedit.Equal(doc.Raw(group...), s.want[i]) {
			continue
		}
		if err := doc.Replace(group, s.want[i]); err != nil {
			return false, err
		}
	}
	return true, nil
}

// owned lists the elements of an array that are our hooks.
func (m Merger) owned(doc *jsonedit.Doc, path jsonedit.Path) []int {
	var out []int
	for i := range doc.Len(path...) {
		if m.Owner.Owns(doc.Decoded(path.With(i)...)) {
			out = append(out, i)
		}
	}
	return out
}

// empty removes our hooks from an array, and groups that held nothing else. It
// returns how many hooks it removed.
func (m Merger) empty(doc *jsonedit.Doc, path jsonedit.Path) (removed int, err error) {
	if m.Shape != Nested {
		return m.removeOwned(doc, path)
	}
	for i := doc.Len(path...) - 1; i >= 0; i-- {
		hooks := path.With(i, hooksKey)
		own := len(m.owned(doc, hooks))
		if own == 0 {
			continue
		}
		removed += own
		if own == doc.Len(hooks...) {
			err = doc.Delete(path.With(i))
		} else {
			_, err = m.removeOwned(doc, hooks)
		}
		if err != nil {
			return removed, err
		}
	}
	return removed, nil
}

func (m Merger) removeOwned(doc *jsonedit.Doc, path jsonedit.Path) (int, error) {
	own := m.owned(doc, path)
	for _, i := range slices.Backward(own) {
		if err := doc.Delete(path.With(i)); err != nil {
			return 0, err
		}
	}
	return len(own), nil
}

// Strip removes our entries from doc, and the containers that it leaves empty
// if created says that they are ours. It returns how many hooks went.
func (m Merger) Strip(doc *jsonedit.Doc, created func(place string) bool) (removed int, err error) {
	for _, path := range slices.Backward(m.arrays(doc)) {
		n, err := m.empty(doc, path)
		if err != nil {
			return removed, err
		}
		removed += n
		if len(path) > 1 && doc.Kind(path...) == '[' && doc.Len(path...) == 0 && created(path.String()) {
			if err := doc.Delete(path); err != nil {
				return removed, err
			}
		}
	}
	for _, key := range slices.Backward(m.Source.Keys()) {
		if !doc.Has(key) || !created(key) {
			continue
		}
		if key == hooksKey && (len(doc.Keys(key)) > 0 || doc.Len(key) > 0) {
			continue
		}
		if key != hooksKey && !jsonedit.Equal(doc.Raw(key), m.Source.Raw(key)) {
			continue
		}
		if err := doc.Delete(jsonedit.Path{key}); err != nil {
			return removed, err
		}
	}
	return removed, nil
}

func kindName(k hujson.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	return fmt.Sprintf("%q", rune(k))
}
