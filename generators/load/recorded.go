package load

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Recorded checks that each claim that rests on a recording names one that one
// of the folders holds, at <host>/<file>. The error is a Findings.
func (d *Description) Recorded(folders []fs.FS) error {
	var out Findings
	for _, h := range d.Catalog.Hosts {
		for claim, where := range h.Claims() {
			if claim.Basis != "recorded" || held(folders, h.ID+"/"+claim.File) {
				continue
			}
			out = append(out, d.At("hosts."+h.ID+"."+where+".claim.file", fmt.Sprintf("no recording %s/%s", h.ID, claim.File), "add the recording below conformance/recordings, or claim source or documented"))
		}
	}
	if out == nil {
		return nil
	}
	sortFindings(out)
	return out
}

func held(folders []fs.FS, name string) bool {
	for _, f := range folders {
		if st, err := fs.Stat(f, name); err == nil && st.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// At is a finding about a field of a manifest, at the author's own place. path
// is keys joined by dots.
func (d *Description) At(path, text, hint string) Finding {
	f := Finding{Path: path, Text: text, Hint: hint}
	if field, _ := d.ex.descend(strings.Split(path, ".")); field != nil {
		d.ex.put(&f, field.Label.Pos())
	}
	return f
}

// Explain turns an error of an emitter that knows which file of which host it
// is about into a finding at the author's place. Others stay as they are.
func (d *Description) Explain(err error) error {
	var e interface {
		error
		Where() (host, file string)
		Unwrap() error
	}
	if !errors.As(err, &e) {
		return err
	}
	host, file := e.Where()
	return Findings{d.At("hosts."+host+".files."+file, e.Unwrap().Error(), "")}
}
