/**
 * Where requests go. A URL may name the server (`localhost:8000`), its API (`…/v1`) or the address itself
 * (`…/v1/chat/completions`); what is shown and written of it has no credentials and no query, since both may hold keys.
 */
import { UserError } from '../base/user-error.js';

export type Api = 'completions' | 'chat';
export const apis: readonly Api[] = ['completions', 'chat'];

export interface Target {
  readonly api: Api;
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
  /** Of requests, with the query. */
  readonly path: string;
  /** Of the API: `/v1`, or what stands in its place. */
  readonly base: string;
  /** Fit to be printed. */
  readonly shown: string;
}

export function readTarget(text: string, askedApi?: Api): Target {
  const url = parse(text);
  const path = url.pathname.replace(/\/+$/, '');
  const named = /^(.*?)\/(chat\/)?completions$/.exec(path);
  const api = askedApi ?? (named?.[2] ? 'chat' : 'completions');
  const base = named ? named[1] : /\/v\d+$/.test(path) ? path : `${path}/v1`;
  const full = `${base}/${api === 'chat' ? 'chat/completions' : 'completions'}`;
  const secure = url.protocol === 'https:';
  return {
    api,
    secure,
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port) || (secure ? 443 : 80),
    path: `${full}${url.search}`,
    base,
    shown: `${url.protocol}//${url.host}${full}`,
  };
}

function parse(text: string): URL {
  const url = tried(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (!url || url.hostname === '' || !/^https?:$/.test(url.protocol))
    throw new UserError(
      'usage',
      'The address is not an http or https URL.',
      'For example: stepscope load http://localhost:8000',
    );
  if (url.username !== '' || url.password !== '')
    throw new UserError(
      'usage',
      'The address contains a user name or password, which anyone on this machine could read.',
      'Put the key in an environment variable and name it: --api-key-env NAME',
    );
  return url;
}

function tried(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
