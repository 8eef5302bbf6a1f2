// Stands in for a module that the plugin does not import.
module github.com/projectcalico/calico/lib/httpmachinery

go 1.24
