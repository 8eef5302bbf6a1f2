// A mutating webhook that does as little as possible: it adds the same init container, label and annotation to each
// pod. `npm run bench create` compares cni-gate with it. Arguments: address, certificate file, key file, file with the
// patch.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
)

type review struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Request    *request  `json:"request,omitempty"`
	Response   *response `json:"response,omitempty"`
}

type request struct {
	UID    string          `json:"uid"`
	Object json.RawMessage `json:"object"`
}

type response struct {
	UID       string `json:"uid"`
	Allowed   bool   `json:"allowed"`
	PatchType string `json:"patchType"`
	Patch     []byte `json:"patch"`
}

func main() {
	patch, err := os.ReadFile(os.Args[4])
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		var asked review
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.Request == nil {
			http.Error(w, "not a review", http.StatusBadRequest)
			return
		}
		asked.Response = &response{asked.Request.UID, true, "JSONPatch", patch}
		asked.Request = nil
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(asked); err != nil {
			log.Print(err)
		}
	})
	log.Fatal(http.ListenAndServeTLS(os.Args[1], os.Args[2], os.Args[3], nil))
}
