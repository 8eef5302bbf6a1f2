import { Command, Option } from 'commander';
import { reviewForms } from './options.ts';
import type { ReviewFlags } from './run-review.ts';

const more = `
Reviewed objects: Pod, Deployment, StatefulSet, DaemonSet, ReplicaSet,
ReplicationController, Job, CronJob, PodTemplate; kinds of Argo, Knative,
Kubeflow, OpenShift, OpenKruise and others, and those that the configuration
adds; any custom resource with spec.template.spec.containers; Lists of them, and
AdmissionReviews about pods.
All other objects are only counted.
A namespace opts in by the label cni-gate.io/profile of a Namespace anywhere in
the input, or by --profile.

Output: text has a diff for each workload; json is a report, or the answers if the
input is AdmissionReviews; yaml is the patched input; junit, sarif, github and
gitlab are for CI.

Exit code: 0 nothing is wrong; 1 a refusal, or with --strict a warning: a key
like cni-gate's without effect, no pod that is checked, a namespace that is not
in the input, a pod without its mesh's proxy; 2 wrong usage or unreadable input.`;

/** `cni-gate review` shows what admission would do to manifests, without a cluster. Sets `process.exitCode`. */
export function reviewCommand(): Command {
  const command = new Command('review');
  command.addHelpText('after', more);
  return (
    command
      .description('show what admission would do to manifests; needs no cluster')
      .argument('[path...]', 'files, folders (.yaml .yml .json), globs, or - for standard input')
      .addOption(
        new Option('-f, --filename <path...>', 'files, folders or globs, as in the arguments').default(
          [],
          'none',
        ),
      )
      .option('-n, --namespace <namespace>', 'namespace of objects that name none', 'default')
      .option('--config <file>', 'configuration (default: built-in profiles)')
      .option('--profile <profile>', 'profile of every namespace, instead of its label')
      .addOption(new Option('-o, --output <form>', 'what to print').choices(reviewForms).default('text'))
      .option('--strict', 'exit with 1 for warnings too')
      .addOption(new Option('--summary', 'one line for each workload, no diff'))
      .option('--assume-meshed', "assume that the mesh's injector has run")
      // loaded here, because the other commands do not need this module
      .action(async (paths: string[], flags: ReviewFlags) =>
        (await import('./run-review.ts')).runReview({ ...flags, filename: [...paths, ...flags.filename] }),
      )
  );
}
