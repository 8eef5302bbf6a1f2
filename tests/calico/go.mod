// Calico's CNI plugin, v3.31.0. `go build -mod=mod` adds the versions that Calico's own go.mod requires.
module cni-gate.invalid/calico

go 1.25.0

tool github.com/projectcalico/calico/cni-plugin/cmd/calico

require (
	github.com/projectcalico/api v0.0.0-20251022175904-f2ab03771208
	github.com/projectcalico/calico v0.0.0-20251021213802-b1f3c43f8437
	github.com/projectcalico/calico/lib/httpmachinery v0.0.0-00010101000000-000000000000
	github.com/projectcalico/calico/lib/std v0.0.0-00010101000000-000000000000
)

replace (
	github.com/projectcalico/calico/lib/httpmachinery => ./none
	github.com/projectcalico/calico/lib/std => github.com/projectcalico/calico/lib/std v0.0.0-20251021213802-b1f3c43f8437
	// as in Calico's own go.mod
	gopkg.in/natefinch/lumberjack.v2 => gopkg.in/natefinch/lumberjack.v2 v2.0.0
)
