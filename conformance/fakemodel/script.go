package fakemodel

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// A Script is what the model will do: for each conversation, its turns in
// order. It names no model API, so that one script can serve every host.
type Script struct {
	// Main are the turns of the session that the user talks to.
	Main []Turn `json:"main"`
	// Sub are the turns of delegated sessions: those whose first message holds
	// SubMark.
	Sub     []Turn `json:"sub,omitempty"`
	SubMark string `json:"sub_mark,omitempty"`
	// Other is the answer to requests without tools, such as a title for the
	// session. They consume no turn. Default: "A title".
	Other string `json:"other,omitempty"`
}

// A Turn is one answer of the model. In JSON an array of blocks is short for a
// turn that has nothing else.
type Turn struct {
	Blocks []Block `json:"blocks,omitempty"`
	// SleepMs delays the answer.
	SleepMs int `json:"sleep_ms,omitempty"`
	// Error answers with an API error instead of blocks.
	Error *APIError `json:"error,omitempty"`
	// Cut ends a streamed answer in the middle, as a lost connection would.
	Cut bool `json:"cut,omitempty"`
}

// A Block is a piece of text, or one tool call.
type Block struct {
	Text string `json:"text,omitempty"`
	// Tool and Input are a tool call in the host's own vocabulary.
	Tool  string          `json:"tool,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
	// ID names the call, so that its result can be found again. Default: by
	// conversation, turn and block.
	ID string `json:"id,omitempty"`
}

// An APIError is an error of the model API.
type APIError struct {
	Status  int    `json:"status"`
	Type    string `json:"type"`
	Message string `json:"message"`
}

// ParseScript reads a script and refuses keys that it doesn't know: a
// misspelled key would otherwise be a turn that does nothing.
func ParseScript(data []byte) (Script, error) {
	var s Script
	if err := strict(data, &s); err != nil {
		return Script{}, fmt.Errorf("fake model script: %w", err)
	}
	if len(s.Sub) > 0 && s.SubMark == "" {
		return Script{}, fmt.Errorf("fake model script: sub needs sub_mark, the text that tells a delegated session from the main one")
	}
	for name, turns := range map[string][]Turn{"main": s.Main, "sub": s.Sub} {
		for i, t := range turns {
			if err := t.check(); err != nil {
				return Script{}, fmt.Errorf("fake model script: %s turn %d: %w", name, i+1, err)
			}
		}
	}
	return s, nil
}

func (t Turn) check() error {
	if t.Error != nil && (t.Error.Status < 400 || t.Error.Status > 599) {
		return fmt.Errorf("error status %d is not between 400 and 599", t.Error.Status)
	}
	if t.Error == nil && len(t.Blocks) == 0 {
		return fmt.Errorf("no blocks and no error")
	}
	for i, b := range t.Blocks {
		if (b.Text == "") == (b.Tool == "") {
			return fmt.Errorf("block %d: exactly one of text and tool is needed", i+1)
		}
		if b.Tool != "" && !json.Valid(b.Input) {
			return fmt.Errorf("block %d: tool %s needs an input object", i+1, b.Tool)
		}
	}
	return nil
}

// UnmarshalJSON takes an object, or an array of blocks.
func (t *Turn) UnmarshalJSON(data []byte) error {
	*t = Turn{}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		return strict(data, &t.Blocks)
	}
	type plain Turn
	return strict(data, (*plain)(t))
}

func strict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(v)
}
