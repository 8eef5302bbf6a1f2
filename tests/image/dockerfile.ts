import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Copy, DockerfileParser, From, type Instruction, JSONInstruction } from 'dockerfile-ast';

/** The checkout: what an engine gets as build context. */
export const checkout = fileURLToPath(new URL('../../', import.meta.url));

/** `COPY` with its sources, from the context or from another stage. */
export interface CopyStep {
  from: string | undefined;
  sources: string[];
  target: string;
}

/** One instruction that makes files. */
export type Step = { workdir: string } | { run: string } | { copy: CopyStep };

/** One `FROM` and what follows it. */
export interface Stage {
  name: string | undefined;
  /** The image that it begins with. */
  base: string;
  steps: Step[];
  /** Arguments of the other instructions, by keyword: `USER`, `ENTRYPOINT`. */
  settings: Map<string, string[]>;
}

export const dockerfileText = (): string =>
  readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8');

/** The stages of the project's Dockerfile, in their order; the last one is the image. */
export function readStages(text: string = dockerfileText()): Stage[] {
  const stages: Stage[] = [];
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    if (instruction instanceof From) {
      stages.push({
        name: instruction.getBuildStage() ?? undefined,
        base: instruction.getImage() ?? '',
        steps: [],
        settings: new Map(),
      });
      continue;
    }
    const stage = stages.at(-1);
    if (stage === undefined) throw new Error(`${instruction.getKeyword()} before the first FROM`);
    const step = stepOf(instruction);
    if (step === undefined) stage.settings.set(instruction.getKeyword(), wordsOf(instruction));
    else stage.steps.push(step);
  }
  return stages;
}

function stepOf(instruction: Instruction): Step | undefined {
  const words = wordsOf(instruction);
  switch (instruction.getKeyword()) {
    case 'WORKDIR':
      return { workdir: words[0] ?? '' };
    case 'RUN':
      return { run: instruction.getArgumentsContent() ?? '' };
    case 'COPY': {
      const from =
        instruction instanceof Copy ? (instruction.getFromFlag()?.getValue() ?? undefined) : undefined;
      return { copy: { from, sources: words.slice(0, -1), target: words.at(-1) ?? '' } };
    }
    case 'ADD':
      throw new Error('ADD is not used here: COPY says what it does');
    default:
      return undefined;
  }
}

function wordsOf(instruction: Instruction): string[] {
  const json = instruction instanceof JSONInstruction ? instruction.getJSONStrings() : [];
  if (json.length > 0) return json.map((word) => word.getJSONValue());
  return instruction.getArguments().map((word) => word.getValue());
}
