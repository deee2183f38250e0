/** What CONFIG may say, and what it is once read. Paths are as written: whoever opens them knows where the file lies. */
import type { Node } from 'yaml';
import type { YamlEntry } from '../../base/yaml-text.js';
import { isPhase, type Phase, phases } from '../../catalog/phases.js';
import { ConfigText } from './config-text.js';

export interface FrameworksConfig {
  readonly title: string | null;
  readonly frameworks: readonly ConfiguredFramework[];
}

export interface ConfiguredFramework extends FrameworkOptions {
  readonly name: string;
  readonly notes?: string;
  readonly profiles: readonly ConfiguredPath[];
  readonly benchmarks: readonly ConfiguredPath[];
}

/** May stand at the top, for all frameworks, or with one. */
interface FrameworkOptions {
  readonly phase?: Phase;
  /** `A-B`, lists are fine. */
  readonly iterations?: string;
  readonly marker?: RegExp;
  /** A preset, or the path of a config.json. */
  readonly model?: string;
  /** GPUs the engine ran on. */
  readonly gpus?: number;
}

export interface ConfiguredPath {
  readonly path: string;
  /** `frameworks.yaml:7:18`, for messages. */
  readonly where: string;
}

const optionKeys = ['phase', 'iterations', 'marker', 'model', 'gpus'] as const;
const topKeys = ['title', 'frameworks', ...optionKeys];
const entryKeys = ['name', 'profiles', 'benchmarks', 'notes', ...optionKeys];
/** More than a page can show side by side. */
const MOST_FRAMEWORKS = 26;
const MOST_FILES = 1000;

export function readFrameworksConfig(file: string, text: string): FrameworksConfig {
  const yaml = new ConfigText(file, text);
  const top = yaml.entries(yaml.root, 'the comparison', topKeys);
  const list = top.get('frameworks');
  if (!list)
    throw yaml.error(
      yaml.root,
      'the comparison has no key "frameworks"',
      'stepscope frameworks --init prints an example.',
    );
  const shared = readOptions(yaml, top);
  const items = yaml.items(list.value, list.key, '"frameworks"', MOST_FRAMEWORKS);
  const seen = new Map<string, Node>();
  const frameworks = items.map(item => {
    const entries = yaml.entries(item, 'a framework', entryKeys);
    const framework = { ...shared, ...readFramework(yaml, item, entries) };
    if (seen.has(framework.name))
      throw yaml.error(
        entries.get('name')!.value,
        `the name ${JSON.stringify(framework.name)} is used twice`,
        'Give each framework a unique name.',
      );
    seen.set(framework.name, item);
    return framework;
  });
  if (items.length < 2)
    throw yaml.error(
      items[0] ?? list.key,
      items.length === 0 ? '"frameworks" is empty' : '"frameworks" has only one entry',
      'List at least two.',
    );
  const title = top.get('title');
  return { title: title ? yaml.word(title.value, title.key, '"title"') : null, frameworks };
}

function readFramework(
  yaml: ConfigText,
  item: Node,
  entries: ReadonlyMap<string, YamlEntry>,
): ConfiguredFramework {
  const name = entries.get('name');
  if (!name) throw yaml.error(item, 'this framework has no name', 'Add a name: key.');
  const paths = (key: 'profiles' | 'benchmarks'): ConfiguredPath[] => {
    const entry = entries.get(key);
    if (!entry) return [];
    return yaml.words(entry.value, entry.key, `"${key}"`, MOST_FILES).map(({ node, text }) => ({
      path: text,
      where: yaml.error(node, '').message.split(': ')[0],
    }));
  };
  const profiles = paths('profiles');
  const benchmarks = paths('benchmarks');
  if (profiles.length + benchmarks.length === 0)
    throw yaml.error(item, 'this framework has neither profiles nor benchmarks', 'Name at least one file.');
  const notes = entries.get('notes');
  return {
    name: yaml.word(name.value, name.key, '"name"'),
    ...(notes ? { notes: yaml.word(notes.value, notes.key, '"notes"').replace(/\s+/g, ' ') } : {}),
    profiles,
    benchmarks,
    ...readOptions(yaml, entries),
  };
}

function readOptions(yaml: ConfigText, entries: ReadonlyMap<string, YamlEntry>): FrameworkOptions {
  const word = (name: string): { text: string; node: Node } | undefined => {
    const entry = entries.get(name);
    return entry && { text: yaml.word(entry.value, entry.key, `"${name}"`), node: entry.value! };
  };
  const [phase, iterations, marker, model, gpus] = optionKeys.map(word);
  if (phase && !isPhase(phase.text))
    throw yaml.error(
      phase.node,
      `${JSON.stringify(phase.text)} is not a phase`,
      `Use one of: ${phases.map(({ id }) => id).join(', ')}.`,
    );
  if (iterations && !/^\d+(\s*-\s*\d+)?(\s*,\s*\d+(\s*-\s*\d+)?)*$/.test(iterations.text))
    throw yaml.error(
      iterations.node,
      `${JSON.stringify(iterations.text)} is not a range of iterations`,
      'Write A-B.',
    );
  if (gpus && !/^[1-9]\d{0,4}$/.test(gpus.text))
    throw yaml.error(
      gpus.node,
      `${JSON.stringify(gpus.text)} is not a number of GPUs`,
      'For example: gpus: 8.',
    );
  return {
    ...(phase ? { phase: phase.text as Phase } : {}),
    ...(iterations ? { iterations: iterations.text } : {}),
    ...(marker ? { marker: readPattern(yaml, marker) } : {}),
    ...(model ? { model: model.text } : {}),
    ...(gpus ? { gpus: Number(gpus.text) } : {}),
  };
}

function readPattern(yaml: ConfigText, { text, node }: { text: string; node: Node }): RegExp {
  try {
    return new RegExp(text);
  } catch (error) {
    const reason = (error as Error).message.replace(/^Invalid regular expression: /, '');
    throw yaml.error(node, `"marker" is not a regular expression: ${reason}`, 'Put it in single quotes.');
  }
}
