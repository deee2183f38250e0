/** A run as the journal keeps it: figures, environment, findings; nothing of the profile itself. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { Analyzer } from '../../analyze/analysis.js';
import { findings } from '../../analyze/findings/findings.js';
import { program } from '../../analyze/program.js';
import { withoutSecrets } from '../../catalog/secret-shapes.js';
import { hashInput } from '../../disk/content-hash.js';
import type { Measurement } from '../../journal/entry.js';
import { measureSources } from '../../run/collect.js';
import { cleanText } from '../../run/collect-facts.js';
import { measureRepeats, requireRun } from '../measured-run.js';
import type { Output } from '../output.js';
import { profileFor } from '../profile-of.js';
import { version } from '../version.js';

const MOST_FINDINGS = 10;

export async function measureForJournal(
  command: string,
  files: readonly string[],
  repeats: readonly string[],
  output: Output,
): Promise<Measurement> {
  requireRun(command, files, {});
  const runs = await measureRepeats(files, repeats, {}, output);
  const profile = await profileFor(files, [...measureSources, findings, program], output);
  const analyzer = new Analyzer(profile);
  const { engine, version: engineVersion, flags } = analyzer.get(program);
  const found = analyzer.get(findings).findings;
  return {
    files: [...files, ...repeats].map(namedFile),
    tool: `stepscope ${version()}`,
    environment: {
      engine: engine || null,
      engineVersion: engineVersion ? cleanText(engineVersion) : null,
      versions: Object.fromEntries(
        Object.entries(profile.capture.versions).map(([name, text]) => [cleanText(name), cleanText(text)]),
      ),
      flags: flags ? flags.map(cleanText) : null,
    },
    runs: runs.map(({ files: names, facts, figures, steps }) => ({
      ...{ files: [...names], facts, figures },
      steps,
    })) as Measurement['runs'],
    findings: found.slice(0, MOST_FINDINGS).map(finding => ({
      rule: finding.id,
      claim: safe(finding.claim),
      severity: finding.severity,
      confidence: finding.confidence,
      costNs: finding.costNs,
      gainThroughput: finding.gain?.throughput ?? null,
      advice: finding.advice.map(({ text }) => safe(text)),
    })),
  };
}

const safe = (text: string) => withoutSecrets(text, () => {});

/** Files outside the project keep their base name alone: paths name people. */
function namedFile(file: string): Measurement['files'][number] {
  const relative = path.relative(process.cwd(), path.resolve(file));
  const isInside = relative !== '' && !relative.startsWith('..') && !path.isAbsolute(relative);
  const name = isInside ? relative.split(path.sep).join('/') : path.basename(file);
  const isFolder = fs.statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
  return { name, ...(isFolder ? { bytes: 0, hash: 'folder' } : hashInput(file)) };
}
