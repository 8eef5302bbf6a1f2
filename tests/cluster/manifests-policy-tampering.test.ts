import assert from 'node:assert/strict';
import { test } from 'node:test';
import { env } from '../../validator/shared/contract.ts';
import { FixedNamespaces } from '../../webhook/admission/namespaces.ts';
import type { Container, Pod, Volume } from '../../webhook/admission/pod.ts';
import { profileLabel, statusAnnotation } from '../../webhook/lib/names.ts';
import { answerTo, copyOf, patched } from '../support/answers.ts';
import { policyOf } from '../support/configurations.ts';
import { pod } from './harness/objects.ts';
import { startCluster } from './harness/start.ts';
import { acceptImages, apply, byPolicy, policyAlone, tryPod } from './installed/overlay.ts';
import { makeNamespace } from './installed/working.ts';

/* What another webhook might do to a pod after cni-gate had it. */

const cluster = await startCluster();
await apply(cluster, 'strict');
await acceptImages(cluster, 'example/other', 'mirror.example:5000/check:1');
await policyAlone(cluster);
await makeNamespace(cluster, 'shop', { [profileLabel]: 'cilium' });

const injected = await inject('cilium');
/** With the kubelet as witness. */
const witnessed = await inject('cilium.seen');

async function inject(profile: string): Promise<Pod> {
  const labels = { 'kubernetes.io/metadata.name': 'shop', [profileLabel]: profile };
  const policy = policyOf({ profiles: [{ name: 'seen', proof: { witness: 'kubelet' } }] });
  const context = { policy, namespaces: new FixedNamespaces(new Map([['shop', labels]])) };
  const bare = pod('web', { initContainers: [{ name: 'migrate', image: 'example/web' }] }) as Pod;
  const { patch } = await answerTo(bare, context);
  return patched(bare, patch);
}

type Change = (pod: Pod, validator: Container & Record<string, unknown>) => void;

function changed(change: Change, from = injected): Pod {
  const copy = copyOf(from);
  const [validator] = copy.spec.initContainers ?? [];
  assert.ok(validator);
  change(copy, validator as Container & Record<string, unknown>);
  return copy;
}

const status = (change: (text: string) => string): Change => {
  return ({ metadata: { annotations } }) => {
    assert.ok(annotations);
    annotations[statusAnnotation] = change(annotations[statusAnnotation] ?? '');
  };
};

const rights = (fields: object): Change => {
  return (_, validator) => Object.assign(validator.securityContext ?? {}, fields);
};

const addVariable = (name: string): Change => {
  return (_, { env: variables }) => variables?.push({ name, value: 'x' });
};

/** As with `proof.container`: another image and command. */
function ownValidator(image: string): Change {
  return (own, it) => {
    status((text) => text.replace(/"checks":.*/, '"checks":["container"]}'))(own, it);
    delete it.args;
    Object.assign(it, { image, command: ['check'], env: [{ name: env.checks, value: '[]' }] });
  };
}

const refused: [what: string, Change, RegExp][] = [
  [
    'the annotation is gone',
    ({ metadata }) => delete metadata.annotations,
    /has no annotation cni-gate\.io\/status/,
  ],
  ['the annotation is no JSON', status(() => 'yes'), /is not as cni-gate writes it/],
  [
    'the annotation goes on behind the checks',
    status((text) => text.replace(/}$/, ',"a":1}')),
    /is not as cni-gate/,
  ],
  ['the init container is gone', ({ spec }) => spec.initContainers?.shift(), /is "migrate", not/],
  ['all init containers are gone', ({ spec }) => delete spec.initContainers, /is missing, not/],
  ['another stands before it', ({ spec }) => spec.initContainers?.reverse(), /is "migrate", not/],
  ['another image', (_, it) => Object.assign(it, { image: 'example/true' }), /has the image "example\/true"/],
  [
    'an image of a like name',
    (_, it) =>
      Object.assign(it, { image: `${it.image}`.replace('/cni-gate-validator:', '/cni-gate-validator-2:') }),
    /has the image/,
  ],
  [
    "the server's image",
    (_, it) => Object.assign(it, { image: `${it.image}`.replace('/cni-gate-validator:', '/cni-gate:') }),
    /has the image/,
  ],
  [
    'a registry with a port',
    (_, it) => Object.assign(it, { image: 'ghcr.io:5000/cni-gate/cni-gate-validator:1' }),
    /has the image/,
  ],
  ['another command', (_, it) => Object.assign(it, { command: ['true'] }), /started in another way/],
  ['other arguments', (_, it) => Object.assign(it, { args: ['--version'] }), /started in another way/],
  ['another folder', (_, it) => Object.assign(it, { workingDir: '/tmp' }), /started in another way/],
  ['a sidecar of it', (_, it) => Object.assign(it, { restartPolicy: 'Always' }), /started in another way/],
  [
    'variables from elsewhere',
    (_, it) => Object.assign(it, { envFrom: [{ secretRef: { name: 'x' } }] }),
    /started in another way/,
  ],
  ['no checks', (_, { env: all }) => all?.splice(0, 1), /lacks checks/],
  [
    'fewer checks',
    (_, { env: all }) => Object.assign(all?.[0] ?? {}, { value: '[{"profile":"cilium","address":{}}]' }),
    /lacks checks/,
  ],
  ['checks given twice', addVariable(env.checks), /lacks checks/],
  ...[
    ...['NODE_OPTIONS', 'NODE_PATH', 'NODE_V8_COVERAGE', 'LD_PRELOAD', 'LD_LIBRARY_PATH', 'LD_AUDIT'],
    ...['LD_BIND_NOW', 'GLIBC_TUNABLES', 'GCONV_PATH', 'OPENSSL_CONF', 'OPENSSL_MODULES', 'CNI_GATE_OTHER'],
    ...['CNI_GATE_NETWORKS', 'CNI_GATE_POD_NAMESPACE', 'CNI_GATE_NETWORK_STATUS_FILE'],
  ].map((name): [string, Change, RegExp] => [
    `variable ${name}`,
    addVariable(name),
    /has a variable that changes/,
  ]),
  ...[
    '/app',
    '/app/',
    '/app/dist',
    '//app',
    '/./app',
    '/x/../app',
    '/x/..',
    '/app/.',
    'app',
    '/',
    '/usr/lib',
  ].map((mountPath): [string, Change, RegExp] => [
    `a volume at ${mountPath}`,
    ({ spec }, it) => {
      spec.volumes = [...(spec.volumes ?? []), { name: 'x', emptyDir: {} }];
      it.volumeMounts = [...(it.volumeMounts ?? []), { name: 'x', mountPath }];
    },
    /has a volume where its program is/,
  ]),
  ['no seccomp profile', rights({ seccompProfile: { type: 'Unconfined' } }), /has more rights/],
  ['root', rights({ runAsNonRoot: false, runAsUser: 0 }), /has more rights/],
  ['a root that can be written', rights({ readOnlyRootFilesystem: false }), /has more rights/],
  ['privileges', rights({ privileged: true, allowPrivilegeEscalation: true }), /has more rights/],
  ['a way to privileges', rights({ allowPrivilegeEscalation: true }), /has more rights/],
  ['a capability', rights({ capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] } }), /has more rights/],
  ['no capability dropped', rights({ capabilities: null }), /has more rights/],
  [
    'a mask of /proc taken off',
    (pod, it) => {
      Object.assign(pod.spec, { hostUsers: false });
      rights({ procMount: 'Unmasked' })(pod, it);
    },
    /has more rights/,
  ],
  ['no AppArmor profile', rights({ appArmorProfile: { type: 'Unconfined' } }), /has more rights/],
  ['a privileged SELinux type', rights({ seLinuxOptions: { type: 'spc_t' } }), /has more rights/],
  [
    'a port of the node',
    (_, it) => Object.assign(it, { ports: [{ containerPort: 80, hostPort: 80 }] }),
    /started in another way/,
  ],
  [
    'a disk of the node',
    ({ spec }, it) => {
      spec.volumes = [
        ...(spec.volumes ?? []),
        { name: 'disk', persistentVolumeClaim: { claimName: 'x' } } as Volume,
      ];
      Object.assign(it, { volumeDevices: [{ name: 'disk', devicePath: '/dev/disk' }] });
    },
    /started in another way/,
  ],
  [
    "an image of its own that is not in the list, as a network's own validator",
    ownValidator('example/true'),
    /no other container of this pod has/,
  ],
  ['no security context', (_, it) => delete it.securityContext, /has more rights/],
];

const probe = (fields: object): Change => {
  return (_, it) => Object.assign(it, { startupProbe: { ...(it.startupProbe as object), ...fields } });
};
const otherProbe = /has another probe/;

const refusedWithWitness: [what: string, Change, RegExp][] = [
  [
    'no sidecar of it',
    (_, it) => [delete it.restartPolicy, delete it.startupProbe],
    /started in another way/,
  ],
  ['no probe', (_, it) => delete it.startupProbe, otherProbe],
  ['a probe of another port', probe({ tcpSocket: { port: 15_006 } }), otherProbe],
  ['a probe of another host', probe({ tcpSocket: { port: 14_040, host: '127.0.0.1' } }), otherProbe],
  ["a probe by Istio's agent", probe({ tcpSocket: null, httpGet: { port: 15_020 } }), otherProbe],
  ['a probe that runs a command', probe({ tcpSocket: null, exec: { command: ['true'] } }), otherProbe],
  [
    'a readiness probe',
    (_, it) => Object.assign(it, { readinessProbe: { tcpSocket: { port: 80 } } }),
    otherProbe,
  ],
];

for (const [from, cases] of [[injected, refused] as const, [witnessed, refusedWithWitness] as const]) {
  for (const [what, change, message] of cases) {
    test(`refused: ${what}`, async () => {
      await assert.rejects(
        tryPod(cluster, 'shop', changed(change, from)),
        (error: unknown) => byPolicy(error) && message.test(error.message),
      );
    });
  }
}

const image =
  (text: string): Change =>
  (_, validator) =>
    Object.assign(validator, { image: text });

const taken: [what: string, Change][] = [
  ['nothing changed', () => {}],
  [
    'a mount',
    (_, it) => {
      Object.assign(it, { volumeMounts: [{ name: 'token', mountPath: '/var/run/x/' }] });
    },
  ],
  [
    'a mount with dots in its name',
    (_, it) => {
      Object.assign(it, { volumeMounts: [{ name: 'token', mountPath: '/var/..data/.x' }] });
    },
  ],
  ...['HTTP_PROXY', 'NODE_NAME', 'NODE_ENV', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'AWS_ROLE_ARN'].map(
    (name): [string, Change] => [`variable ${name}`, addVariable(name)],
  ),
  ['another release', image('ghcr.io/cni-gate/cni-gate-validator:0.0.1')],
  ['a digest', image(`ghcr.io/cni-gate/cni-gate-validator:1@sha256:${'0'.repeat(64)}`)],
  ['a capability dropped by name as well', rights({ capabilities: { drop: ['NET_RAW', 'ALL'] } })],
  ['a user id', rights({ runAsUser: 1000 })],
  ['ids of SELinux, as OpenShift gives them', rights({ seLinuxOptions: { level: 's0:c1,c2' } })],
  ["a network's own validator, in an image of the pod", ownValidator('example/web')],
  ["a network's own validator, in an image that is named", ownValidator('mirror.example:5000/check:2')],
  [
    'an init container behind it',
    ({ spec }) => spec.initContainers?.push({ name: 'last', image: 'x' } as Container),
  ],
];

test('taken: the kubelet as witness', () => tryPod(cluster, 'shop', witnessed));

for (const [what, change] of taken) {
  test(`taken: ${what}`, async () => {
    const copy = changed(change);
    Object.assign(copy.spec, { volumes: [{ name: 'token', emptyDir: {} }] });
    await tryPod(cluster, 'shop', copy);
  });
}

test('an update of a pod is no matter of the policy', async () => {
  await cluster.api.post('/api/v1/namespaces/shop/pods', injected);
  await cluster.api.patch('/api/v1/namespaces/shop/pods/web', {
    metadata: { annotations: { [statusAnnotation]: null } },
  });
});
