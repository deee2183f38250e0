// What is wrong with a run, and what the capture cannot answer.
//   node diagnose.mjs profile.sqlite
import { analyze, openProfile } from 'stepscope';

const profile = await openProfile(process.argv[2]);
const findings = analyze(profile, 'findings');
if (findings.status !== 'ok') throw new Error(`cannot be answered: ${JSON.stringify(findings)}`);
console.log(findings.summary.verdict);
for (const { claim, costNs, confidence } of findings.rows.slice(0, 3))
  console.log({ claim, costNs, confidence });

const gil = analyze(profile, 'gil');
if (gil.status === 'not-recorded') console.log(`not recorded: ${gil.what}; ${gil.hint}`);
