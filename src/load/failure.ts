/** What can go wrong with a request, as kinds that are counted. */

/** `http-503` and the like beside these. */
type FailureKind =
  | 'refused'
  | 'unreachable'
  | 'name-not-found'
  | 'tls'
  | 'reset'
  | 'cut-off'
  | 'timeout'
  | 'redirect'
  | 'malformed'
  | 'too-large'
  | 'error-event'
  | 'empty'
  | 'client-limit'
  | 'network'
  | `http-${number}`;

/** In words, for the report. */
export function failureWords(kind: string): string {
  const words: Readonly<Record<string, string>> = {
    refused: 'connection refused',
    unreachable: 'server unreachable',
    'name-not-found': 'host name not found',
    tls: 'TLS connection failed',
    reset: 'connection reset before a response',
    'cut-off': 'response truncated',
    timeout: 'timed out',
    redirect: 'redirected (not followed)',
    malformed: 'invalid response',
    'too-large': 'response too large',
    'error-event': 'error inside the stream',
    empty: 'response without a token',
    'client-limit': 'no more connections on this machine',
    network: 'network error',
  };
  return words[kind] ?? kind.replace(/^http-/, 'HTTP ');
}

/** Connection could not be made: the server is not there. */
export const isUnreachable = (kind: string): boolean =>
  ['refused', 'unreachable', 'name-not-found', 'tls'].includes(kind);

/** Ends a request, not the run. */
export class Failure extends Error {
  constructor(
    readonly kind: FailureKind,
    readonly detail: string,
  ) {
    super(detail);
  }
}

const byCode: Readonly<Record<string, FailureKind>> = {
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ETIMEDOUT: 'unreachable',
  ENOTFOUND: 'name-not-found',
  EAI_AGAIN: 'name-not-found',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  EMFILE: 'client-limit',
  ENFILE: 'client-limit',
  EADDRNOTAVAIL: 'client-limit',
  HPE_HEADER_OVERFLOW: 'too-large',
  // The certificate, by OpenSSL's names.
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls',
  CERT_HAS_EXPIRED: 'tls',
};

/** From an error of Node. Once the answer has begun, a connection that goes away has cut it off. */
export function failureOf(error: unknown, hasBegun: boolean): Failure {
  if (error instanceof Failure) return error;
  const { code = '', message = '' } = error as NodeJS.ErrnoException;
  const known = byCode[code];
  const kind: FailureKind =
    known ?? (/^(ERR_TLS|ERR_SSL|EPROTO)/.test(code) ? 'tls' : /^HPE_/.test(code) ? 'malformed' : 'network');
  const detail = message || code || 'unknown error';
  return hasBegun && kind === 'reset'
    ? new Failure('cut-off', 'the connection was closed')
    : new Failure(kind, detail);
}
