package main

import "testing"

func TestOnlyNamesThatMatchAreKept(t *testing.T) {
	rule, err := newRule([]byte(`{"pattern": "^eu-|-gpu$"}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, expected := range map[string]bool{
		"eu-west": true, "us-gpu": true, "us-east": false, "gpu-us": false, "": false,
	} {
		if actual := rule.keeps([]byte(name)); actual != expected {
			t.Errorf("%q: %v, expected %v", name, actual, expected)
		}
	}
}

func TestAnInvalidConfigurationIsRefused(t *testing.T) {
	for configuration, expected := range map[string]string{
		`{}`:                            "`pattern` is missing, expected a regular expression",
		`{"pattern": null}`:             "`pattern` is missing, expected a regular expression",
		`{"pattern": 3}`:                "`pattern` is a number, expected a text",
		`{"pattern": "("}`:              "error parsing regexp: missing closing ): `(`",
		`{"pattern": "a", "invert": 1}`: `json: unknown field "invert"`,
		`{"pattern": "a"} 3`:            "there is more than one JSON value",
	} {
		if _, err := newRule([]byte(configuration)); err == nil || err.Error() != expected {
			t.Errorf("%s: %v, expected %s", configuration, err, expected)
		}
	}
}
