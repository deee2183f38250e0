/**
 * How hard the server is pressed. Closed loop: a number of users, each sending the next request when the last one is
 * answered (`single` is one of them). Open loop (`sustained`): requests are sent at their times whether or not the
 * server keeps up, as the world does.
 */
import { UserError } from '../base/user-error.js';

export type Level =
  | { readonly kind: 'concurrent'; readonly name: string; readonly users: number }
  | { readonly kind: 'sustained'; readonly name: string; readonly perSecond: number };

const MOST_USERS = 20_000;
const MOST_PER_SECOND = 100_000;

export function readLevels(texts: readonly string[]): Level[] {
  return texts
    .flatMap(text => text.split(','))
    .map(text => text.trim())
    .filter(text => text !== '')
    .map(readLevel);
}

function readLevel(text: string): Level {
  if (text === 'single') return { kind: 'concurrent', name: text, users: 1 };
  const users = Number(/^concurrent:(\d{1,6})$/.exec(text)?.[1]);
  if (users >= 1 && users <= MOST_USERS) return { kind: 'concurrent', name: text, users };
  const rate = /^sustained:(\d{1,6}(?:\.\d{1,6})?)(?:\/(s|min))?$/.exec(text);
  const perSecond = rate ? Number(rate[1]) / (rate[2] === 'min' ? 60 : 1) : Number.NaN;
  if (perSecond > 0 && perSecond <= MOST_PER_SECOND) return { kind: 'sustained', name: text, perSecond };
  throw new UserError(
    'usage',
    `${JSON.stringify(text)} is not a load level.`,
    'Use single, concurrent:16 or sustained:8/s; several: --levels single,concurrent:16,sustained:4/s',
  );
}

/** Enough that every user asks several times. */
export const defaultRequests = (level: Level): number =>
  level.kind === 'concurrent' ? Math.max(100, 4 * level.users) : 100;
