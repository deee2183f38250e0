/** A plan as a document, by docs/schemas/capture-plan.schema.json. */
import type { Static } from '../base/document.js';
import type { CapturePlan } from './capture-plan.js';
import type { capturePlanSchema } from './capture-schema.js';
import { commandText } from './plan-text.js';

export const planDocument = (plan: CapturePlan): Static<typeof capturePlanSchema> => ({
  schema: 'stepscope-capture-plan/1',
  ...plan,
  shell: commandText(plan),
});
