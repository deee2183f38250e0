/** A plan as a document, by docs/schemas/capture-plan.schema.json. */
import type { CapturePlan } from './capture-plan.js';
import { commandText } from './plan-text.js';

const CAPTURE_PLAN_SCHEMA = 'stepscope-capture-plan/1';

export const planDocument = (plan: CapturePlan): unknown => ({
  schema: CAPTURE_PLAN_SCHEMA,
  ...plan,
  shell: commandText(plan),
});
