// Rows of one analysis, with their types: the share of idle time of each decode step.
//   node typed-rows.mjs profile.sqlite
import { analyze, openProfile, stepBudget } from 'stepscope';

const budget = analyze(await openProfile(process.argv[2]), stepBudget, { phase: 'decode' });
if (budget.status === 'ok')
  for (const { iteration, idleNs, wallNs } of budget.rows)
    console.log(iteration, `${((100 * idleNs) / wallNs).toFixed(1)}% idle`);
