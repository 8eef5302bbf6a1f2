/** The node's own address. The kubelet accepts any address of an interface except 127.0.0.0/8. */
export const nodeAddress = '10.254.0.10';

/** The image of a pod's pause container, which keeps the pod's namespaces open. */
export const pauseImage = 'localhost/pause:test';

/** `/etc/kubernetes/containerd.toml`. Debian's release of containerd and later ones read this format, version 2. */
export const containerdSettings = `version = 2
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  # a machine that may not lower scores (no CAP_SYS_RESOURCE) would start no container
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
`;

/** `/etc/kubernetes/kubelet.yaml`. @param group the control group below which the kubelet creates its groups */
export function kubeletSettings(group: string): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: nodeAddress,
    tlsCertFile: '/etc/kubernetes/kubelet.crt',
    tlsPrivateKeyFile: '/etc/kubernetes/kubelet.key',
    authentication: {
      anonymous: { enabled: false },
      x509: { clientCAFile: '/etc/kubernetes/authority.crt' },
    },
    healthzPort: 0,
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    cgroupDriver: 'cgroupfs',
    cgroupRoot: group,
    failCgroupV1: false,
    failSwapOn: false,
    enforceNodeAllocatable: [],
    // the default is a folder that the kubelet would create on the machine
    volumePluginDir: '/var/lib/kubelet/volume-plugins',
    // nothing answers at this address, but without it each pod gets a warning
    clusterDNS: ['10.96.0.10'],
    clusterDomain: 'cluster.local',
    resolvConf: '',
    imageGCHighThresholdPercent: 100,
    // the disk is the machine's memory, whose usage says nothing about the node
    localStorageCapacityIsolation: false,
    evictionHard: { 'memory.available': '1Mi' },
  };
}
