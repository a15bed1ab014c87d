package observed

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func run(version, on string, cells map[string]Cell) Run {
	return Run{Package: "@vendor/host", Version: version, On: on, Platform: "linux/amd64", Cells: cells}
}

func TestCommittedFilesAreWellFormed(t *testing.T) {
	files, err := Load(Committed())
	require.NoError(t, err)
	for host, f := range files {
		want, err := Committed().Open(host + ".json")
		require.NoError(t, err)
		want.Close()
		enc, err := f.Encode()
		require.NoError(t, err)
		data, err := committed.ReadFile(host + ".json")
		require.NoError(t, err)
		assert.Equal(t, string(enc), string(data), "not in its committed form; run make acceptance-record")
	}
}

func TestMergeKeepsDateUntilACellChanges(t *testing.T) {
	f := File{SchemaVersion: 1, Host: "h"}
	f = f.Merge(run("1.2.3", "2026-01-01", map[string]Cell{"event:stop": {Result: Pass, Saw: "a"}, "case:x": {Result: Pass, Saw: "x"}}), false)

	same := f.Merge(run("1.2.3", "2026-02-02", map[string]Cell{"event:stop": {Result: Pass, Saw: "a"}, "case:x": {Result: Pass, Saw: "x"}}), false)
	assert.Equal(t, "2026-01-01", same.Runs[0].On)

	part := f.Merge(run("1.2.3", "2026-02-02", map[string]Cell{"event:stop": {Result: Pass, Saw: "a"}}), true)
	assert.Equal(t, "2026-01-01", part.Runs[0].On)
	assert.Contains(t, part.Runs[0].Cells, "case:x")

	changed := f.Merge(run("1.2.3", "2026-02-02", map[string]Cell{"event:stop": {Result: Pass, Saw: "b"}, "case:x": {Result: Pass, Saw: "x"}}), false)
	assert.Equal(t, "2026-02-02", changed.Runs[0].On)
	assert.Equal(t, "2026-01-01", f.Runs[0].On, "the argument is left alone")

	newer := f.Merge(run("1.2.10", "2026-02-02", map[string]Cell{"event:stop": {Result: Fail, Saw: "no"}}), false)
	require.Len(t, newer.Runs, 2)
	assert.Equal(t, "1.2.10", newer.Runs[1].Version)
}

func TestCellTakesTheNewestPassInRange(t *testing.T) {
	f := File{SchemaVersion: 1, Host: "h"}
	for v, c := range map[string]Cell{"1.2.3": {Result: Pass, Saw: "old"}, "1.2.10": {Result: Pass, Saw: "new"}, "1.3.0": {Result: Fail, Saw: "no"}, "2.0.0": {Result: Pass, Saw: "out of range"}} {
		f = f.Merge(run(v, "2026-01-01", map[string]Cell{"event:stop": c}), false)
	}
	r, c, ok := f.Cell("event:stop", Range{"1.0.0", "1.9.0"}, "")
	require.True(t, ok)
	assert.Equal(t, "1.2.10", r.Version)
	assert.Equal(t, "new", c.Saw)
	_, _, ok = f.Cell("event:stop", Range{"3.0.0", ""}, "")
	assert.False(t, ok)
	_, _, ok = f.Cell("event:none", Range{"", ""}, "")
	assert.False(t, ok)

	other, ok := f.Against(run("9.9.9", "", nil))
	assert.True(t, ok)
	assert.Equal(t, "2.0.0", other.Version)
}

func TestCompare(t *testing.T) {
	d := Compare(
		run("1.0.0", "", map[string]Cell{"case:a": {Result: Pass, Saw: "1"}, "case:b": {Result: Pass, Saw: "1"}, "case:c": {Result: Pass, Saw: "1"}}),
		run("1.0.0", "", map[string]Cell{"case:a": {Result: Pass, Saw: "1"}, "case:b": {Result: Pass, Saw: "2"}, "case:d": {Result: Pass, Saw: "1"}}))
	require.Len(t, d, 3)
	assert.Equal(t, "case:b", d[0].ID)
	assert.False(t, d[0].Contradicts())
	assert.True(t, d[1].Contradicts(), "a cell that vanished")
	assert.False(t, d[2].Contradicts(), "a cell that is new")
}

func TestReadRefuses(t *testing.T) {
	for name, c := range map[string]struct{ data, want string }{
		"unknown key": {`{"schema_version":1,"host":"h","runs":[],"extra":1}`, "unknown field"},
		"version":     {`{"schema_version":2,"host":"h","runs":[]}`, "schema_version is 2"},
		"name":        {`{"schema_version":1,"host":"other","runs":[]}`, "name it other.json"},
		"cell id":     {`{"schema_version":1,"host":"h","runs":[{"package":"p","version":"1","on":"d","platform":"x/y","cells":{"stop":{"result":"pass","saw":""}}}]}`, `cell "stop"`},
		"result":      {`{"schema_version":1,"host":"h","runs":[{"package":"p","version":"1","on":"d","platform":"x/y","cells":{"event:stop":{"result":"skipped","saw":""}}}]}`, `result is "skipped"`},
		"no date":     {`{"schema_version":1,"host":"h","runs":[{"package":"p","version":"1","platform":"x/y","cells":{}}]}`, "needs package"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(fstest.MapFS{"h.json": {Data: []byte(c.data)}})
			require.ErrorContains(t, err, c.want)
		})
	}
}
