// Reads YAML and JSON as kubectl does: k8s.io/apimachinery splits the stream into documents, and sigs.k8s.io/yaml reads
// each document, as in k8s.io/cli-runtime pkg/resource StreamVisitor.
//
// Standard input is a JSON list of texts. Standard output is a JSON list with a result for each text: the values of its
// documents up to the first that cannot be read, and the error for that document.
package main

import (
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

type outcome struct {
	Values []json.RawMessage `json:"values"`
	Error  string            `json:"error,omitempty"`
}

func read(text string) outcome {
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	result := outcome{Values: []json.RawMessage{}}
	for {
		document := runtime.RawExtension{}
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return result
		}
		if err != nil {
			result.Error = err.Error()
			return result
		}
		// leaves out blank documents, as kubectl does
		if len(document.Raw) > 0 && string(document.Raw) != "null" {
			result.Values = append(result.Values, document.Raw)
		}
	}
}

func main() {
	var texts []string
	if err := json.NewDecoder(os.Stdin).Decode(&texts); err != nil {
		log.Fatal(err)
	}
	outcomes := make([]outcome, len(texts))
	for index, text := range texts {
		outcomes[index] = read(text)
	}
	if err := json.NewEncoder(os.Stdout).Encode(outcomes); err != nil {
		log.Fatal(err)
	}
}
