package fileset

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"io"
	"time"
)

// epoch is the time of every packed file: the same sources give the same
// bytes. Zip can't say anything earlier.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// level is the compression of archives; 9 costs twice the time for 1 %.
const level = 6

// Tar packs the set as a gzipped USTAR archive with every name below top.
func (s Set) Tar(top string) ([]byte, error) {
	files, err := s.Sorted()
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	zw, err := gzip.NewWriterLevel(&buf, level)
	if err != nil {
		return nil, err
	}
	tw := tar.NewWriter(zw)
	for _, f := range files {
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: top + "/" + f.Path, Mode: int64(f.Mode.Perm()),
			Size: int64(len(f.Data)), ModTime: epoch, Format: tar.FormatUSTAR,
		}
		if err := tw.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := tw.Write(f.Data); err != nil {
			return nil, err
		}
	}
	if err := tw.Close(); err != nil {
		return nil, err
	}
	if err := zw.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// Zip packs the set as a zip archive with every name below top.
func (s Set) Zip(top string) ([]byte, error) {
	files, err := s.Sorted()
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	zw := zip.NewWriter(&buf)
	zw.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, level) })
	for _, f := range files {
		h := &zip.FileHeader{Name: top + "/" + f.Path, Method: zip.Deflate, Modified: epoch}
		h.SetMode(f.Mode)
		w, err := zw.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.Data); err != nil {
			return nil, err
		}
	}
	if err := zw.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}
