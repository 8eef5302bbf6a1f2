/** A plugin manifest of krew, `krew.googlecontainertools.github.com/v1alpha2`. */
export interface PluginManifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  spec: {
    version: string;
    homepage?: string;
    shortDescription: string;
    description?: string;
    caveats?: string;
    platforms: Platform[];
  };
}

interface Platform {
  uri: string;
  sha256: string;
  bin: string;
  files?: { from: string; to: string }[];
  selector: {
    matchLabels?: Record<string, string>;
    matchExpressions?: { key: string; operator: string; values?: string[] }[];
  };
}

/**
 * What krew refuses in a manifest, by the rules of https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest and of
 * `internal/index/validation` in its sources.
 *
 * @param name of the plugin, and of its file in an index
 */
export function pluginFaults(name: string, { apiVersion, kind, metadata, spec }: PluginManifest): string[] {
  const rules: [holds: boolean, fault: string][] = [
    [apiVersion === 'krew.googlecontainertools.github.com/v1alpha2', 'apiVersion is not v1alpha2'],
    [kind === 'Plugin', 'kind is not Plugin'],
    [/^[\w-]+$/.test(name) && metadata.name === name, `metadata.name is not ${name}`],
    [/^v\d+\.\d+\.\d+(-[\w.]+)?$/.test(spec.version), 'spec.version is not a semantic version with v'],
    [/^[^\r\n]+$/.test(spec.shortDescription), 'spec.shortDescription is empty or has several lines'],
    // a guideline of the index: https://krew.sigs.k8s.io/docs/developer-guide/develop/best-practices
    [spec.shortDescription.length <= 50, 'spec.shortDescription is longer than 50 characters'],
    [spec.platforms.length > 0, 'spec.platforms is empty'],
  ];
  const own = rules.filter(([holds]) => !holds).map(([, fault]) => fault);
  return [...own, ...spec.platforms.flatMap(platformFaults)];
}

function platformFaults({ uri, sha256, bin, files, selector }: Platform): string[] {
  const { matchLabels, matchExpressions } = selector;
  const keys = [...Object.keys(matchLabels ?? {}), ...(matchExpressions ?? []).map(({ key }) => key)];
  const rules: [holds: boolean, fault: string][] = [
    [/^https:\/\//.test(uri), 'uri is not an address'],
    [/^[a-f0-9]{64}$/.test(sha256), 'sha256 is not a checksum'],
    [bin !== '' && !/^\/|(^|\/)\.\.(\/|$)/.test(bin), 'bin is not a path in the archive'],
    [files === undefined || files.length > 0, 'files is empty'],
    [
      keys.length > 0 && keys.every((key) => key === 'os' || key === 'arch'),
      'selector has not os and arch alone',
    ],
  ];
  return rules.filter(([holds]) => !holds).map(([, fault]) => fault);
}
