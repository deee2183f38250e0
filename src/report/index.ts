/** The registry of output formats. */
import { csv } from './csv.js';
import { json } from './json.js';
import { markdown } from './markdown.js';
import type { Renderer } from './renderer.js';
import { text } from './text.js';

export const renderers: readonly Renderer[] = [text, csv, json, markdown];
