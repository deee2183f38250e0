// Whether a change helped, term by term.
//   node compare.mjs before.sqlite after.sqlite
import { compare, openProfile } from 'stepscope';

const [before, after] = await Promise.all(process.argv.slice(2, 4).map(file => openProfile(file)));
const [comparison] = compare(before, after).comparisons;
for (const { phase, terms } of comparison.phases) console.log(phase, terms.slice(0, 3));
