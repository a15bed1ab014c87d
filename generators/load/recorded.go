package load

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Recorded checks that each claim that rests on a recording names one that one
// of the folders holds, at <host>/<file>, and a release that the README beside
// it names. The error is a Findings.
func (d *Description) Recorded(folders []fs.FS) error {
	var out Findings
	for _, h := range d.Catalog.Hosts {
		releases := releases(folders, h.ID)
		for claim, where := range h.Claims() {
			at := "hosts." + h.ID + "." + where + ".claim"
			switch {
			case claim.Basis != "recorded":
			case !held(folders, h.ID+"/"+claim.File):
				out = append(out, d.At(at+".file", fmt.Sprintf("no recording %s/%s", h.ID, claim.File), "add the recording below conformance/recordings, or claim source or documented"))
			case !slices.Contains(releases, claim.Version):
				out = append(out, d.At(at+".version", fmt.Sprintf("the README of the recordings of %s doesn't name %s", h.ID, claim.Version), "claim the release that sent the payload, or record it on this one and add the release to README.md"))
			}
		}
	}
	if out == nil {
		return nil
	}
	out.Sort()
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

// releases are the words of what the folders say about the recordings of a
// host, without the punctuation at their ends: a release is one of them.
func releases(folders []fs.FS, host string) []string {
	var out []string
	for _, f := range folders {
		data, err := fs.ReadFile(f, host+"/README.md")
		if err != nil {
			continue
		}
		for _, w := range strings.Fields(string(data)) {
			out = append(out, strings.Trim(w, ".,;:()`"))
		}
	}
	return out
}

// At is a finding about a field of a manifest, at the author's own place, or at
// that of the nearest field around it that the author wrote. path is keys
// joined by dots.
func (d *Description) At(path, text, hint string) Finding {
	f := Finding{Path: path, Text: text, Hint: hint}
	for keys := strings.Split(path, "."); len(keys) > 0; keys = keys[:len(keys)-1] {
		if field, _ := d.ex.descend(keys); field != nil {
			d.ex.put(&f, field.Label.Pos())
			break
		}
	}
	return f
}

// Explain turns an error of an emitter that knows which file of which host it
// is about into a finding at the author's place. Others stay as they are.
func (d *Description) Explain(err error) error {
	var e interface {
		error
		Where() (host, at string)
		Unwrap() error
	}
	if !errors.As(err, &e) {
		return err
	}
	host, at := e.Where()
	return Findings{d.At("hosts."+host+".files."+at, e.Unwrap().Error(), "")}
}
