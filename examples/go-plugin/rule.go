package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
)

// rule keeps the clusters whose names match a pattern. Nothing changes it after it is made, because calls may come from
// several threads at the same time.
type rule struct {
	pattern *regexp.Regexp
}

// configurationError is a mistake in the profile, at a key.
type configurationError struct {
	key     string
	problem string
}

func (e *configurationError) Error() string {
	return e.problem
}

// newRule reads the configuration, a JSON object.
func newRule(configuration []byte) (*rule, error) {
	var settings struct {
		Pattern *string `json:"pattern"`
	}
	decoder := json.NewDecoder(bytes.NewReader(configuration))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&settings); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			problem := fmt.Sprintf("`%s` is a %s, expected a text", wrong.Field, wrong.Value)
			return nil, &configurationError{key: wrong.Field, problem: problem}
		}
		return nil, &configurationError{problem: err.Error()}
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, &configurationError{problem: "there is more than one JSON value"}
	}
	if settings.Pattern == nil {
		return nil, &configurationError{key: "pattern", problem: "`pattern` is missing, expected a regular expression"}
	}
	pattern, err := regexp.Compile(*settings.Pattern)
	if err != nil {
		return nil, &configurationError{key: "pattern", problem: err.Error()}
	}
	return &rule{pattern: pattern}, nil
}

// keeps is true if a cluster with this name stays. The name is not kept beyond the call.
func (r *rule) keeps(name []byte) bool {
	return r.pattern.Match(name)
}
