// Reads manifests with the modules that kubectl uses, so that the tests can compare `review` with kubectl.
module cni-gate.test/yaml

go 1.26.0

require k8s.io/apimachinery v0.36.3
