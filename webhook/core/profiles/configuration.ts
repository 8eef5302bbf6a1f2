// Generated from webhook/config/configuration.schema.json, which describes it, by `npm run generate`.

export type ConfigurationFile = {
  apiVersion: 'cni-gate.io/v1alpha1';
  kind: 'Configuration';
  proof: ProofSection;
  gate: GateSection;
  steer: SteerSettings;
  repair: RepairSettings;
  profiles: Profile[];
  review: ReviewSettings;
};
export type ProofSection = {
  mode: ProofMode;
  image?: string;
  imagePullPolicy: 'Always' | 'IfNotPresent' | 'Never';
  imagePullSecrets: string[];
  resources: ProofResources;
  allowOptOut: boolean;
};
export type ProofMode = 'enforce' | 'warn';
export type ProofResources = {
  requests: Requests;
  limits: Limits;
};
export type Requests = {
  cpu: Quantity;
  memory: Quantity;
  'ephemeral-storage': Quantity;
};
export type Quantity = string | number;
export type Limits = {
  cpu: Quantity;
  memory: Quantity;
  'ephemeral-storage': Quantity;
};
export type GateSection = {
  mode: 'enforce' | 'audit';
  startupGrace: string;
  maxHold: string;
  evidence?: EvidenceMode;
};
export type EvidenceMode = 'ready' | 'proof';
export type SteerSettings = {
  mode: 'nominate' | 'off';
};
export type RepairSettings = {
  mode: 'off' | 'audit' | 'recreate';
  perNodePerMinute: number;
  perOwnerPerMinute: number;
  perMinute: number;
  owners: OwnerKind[];
};
export type OwnerKind = {
  apiVersion: string;
  kind: string;
};
export type Profile = {
  name: string;
  when: Condition | Condition[];
  evidence?: EvidenceMode;
  daemonSets: DaemonSetOfProfile[];
  annotations: Record<string, string>;
  injector?: Injector;
  proof: ProfileProof;
};
export type Condition = {
  container?: string;
  args?: string[];
  env?: Record<string, Matcher>;
  noContainer?: string;
  labels?: Record<string, Matcher>;
  annotations?: Record<string, Matcher>;
  namespaceLabels?: Record<string, Matcher>;
};
export type Matcher = string | MatcherOperators;
export type MatcherOperators = {
  in?: string[];
  notIn?: string[];
  exists?: boolean;
};
export type DaemonSetOfProfile = {
  namespace: string | string[];
  name: string;
};
export type Injector = {
  command: string;
  proxy: string;
  containerPrefix: string;
  domain: string;
  rules: InjectorRule[];
};
export type InjectorRule = {
  injects: boolean;
  labels?: Record<string, Matcher>;
  annotations?: Record<string, Matcher>;
  namespaceLabels?: Record<string, Matcher>;
  namespaceAnnotations?: Record<string, Matcher>;
};
export type ProfileProof = {
  checks: CheckOfProfile[];
  families?: FamiliesSource;
  container?: ProofContainer;
  replaces?: 'linkerd-network-validator'[];
  witness?: 'kubelet';
  continuous?: ContinuousSettings;
  inbound?: InboundRedirect;
};
export type CheckOfProfile =
  | { redirect: RedirectSettings }
  | { captured: Captured }
  | { interfaces: Timed }
  | { address: Timed }
  | { gateway: Gateway }
  | { roundTrip: RoundTrip }
  | { reach: Reach }
  | { policy: PolicySettings };
export type RedirectSettings = {
  direction: 'outbound' | 'inbound';
  listen: number;
  connect: string[];
  asUser?: Id;
  notAsUser?: Id;
  notAsGroup?: Id;
  skippedPorts?: string;
  timeout: string;
};
export type Id = number | IdSource;
export type IdSource = {
  annotation?: string;
  containers?: string[];
  default?: number;
};
export type Captured = {
  listeners: number[];
  outbound: number;
  connect: string[];
  timeout: string;
};
export type Timed = {
  timeout: string;
};
export type Gateway = {
  required?: true;
  timeout: string;
};
export type RoundTrip = {
  mode: 'require' | 'prefer';
  timeout: string;
};
export type Reach = {
  host: string;
  port: number;
  timeout: string;
};
export type PolicySettings = {
  blocked: string[];
  allowed?: string[];
  timeout: string;
};
export type FamiliesSource = {
  container: string;
  env?: string;
  dualStackEnv?: string;
};
export type ProofContainer = {
  image?: string;
  imageOf?: string;
  command?: string[];
  args?: string[];
  asUser?: Id;
  notAsUser?: Id;
  notAsGroup?: Id;
};
export type ContinuousSettings = {
  interval: string;
  failures: number;
  onFailure: 'log' | 'unready' | 'recreate';
  policy: boolean;
};
export type InboundRedirect = {
  port: number;
  excludedBy?: string[];
  excludedPorts?: string;
  inherited?: true;
  transparent?: Record<string, Matcher>;
  includedBy?: string;
  neverRedirected?: number[];
};
export type ReviewSettings = {
  kinds: TemplateKind[];
};
export type TemplateKind = {
  apiVersion: string;
  kind: string;
  path: string;
  job?: true;
};
