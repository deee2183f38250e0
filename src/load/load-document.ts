/** The file of `stepscope load` and its parts, as types; load-schema.ts says what each field is. */
import type { Static } from '../base/document.js';
import type { loadSchema } from './load-schema.js';

export type LoadDocument = Static<typeof loadSchema>;
export type LevelResult = LoadDocument['levels'][number];
export type LevelTiming = LevelResult['timing'];
export type LoadRequest = NonNullable<LevelResult['requests']>[number];
