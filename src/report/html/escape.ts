/** The one place where text becomes HTML. Kernel and range names come from strangers: nothing goes around this. */
import { printable } from '../../base/printable.js';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Marks that turn the reading direction or take no room become visible dots. */
export const withVisibleMarks = (text: string): string =>
  printable(text).replace(/[\u061c\u200b-\u200f\ufeff]/g, '·');

/** Safe between tags and inside quoted attributes. */
export const escapeHtml = (text: string): string =>
  withVisibleMarks(text).replace(/[&<>"']/g, char => entities[char]);

/** Sentences: options stay whole, where a browser would break after their dashes, and numbers keep their units. Not for attributes. */
export const proseToHtml = (text: string): string =>
  escapeHtml(text)
    .replace(/(^|[\s(])(--[a-z][\w-]*)/g, '$1<span class="whole">$2</span>')
    .replace(/[\d.,]*\d (?:[nµm]?s|[kMGT]?B)(?![\w/])/g, '<span class="whole">$&</span>');

/** JSON that cannot end its script element or open a comment in it. */
export function jsonForScript(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll('<', '\\u003c')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
}

/** A name an element can carry. */
export const elementId = (text: string): string => text.replace(/[^a-z0-9-]+/gi, '-');
