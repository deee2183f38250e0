/**
 * The key to the server: other users of this machine can reach it too. It is made anew at each start and printed with the address; the browser
 * that brings it gets a cookie in return, and an address without it, so that it does not stay in sight.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Refusal } from './refusal.js';
import type { RequestTarget } from './request-target.js';

const TOKEN_BYTES = 24;

export class AccessToken {
  readonly text = randomBytes(TOKEN_BYTES).toString('base64url');
  /** Cookies do not tell ports apart: two servers on one machine must not overwrite each other's. */
  private readonly cookie: string;

  constructor(port: number) {
    this.cookie = `stepscope-${port}`;
  }

  /** True when it has answered itself: the key was in the address. Refuses who has none. */
  admit(request: IncomingMessage, response: ServerResponse, { path, query }: RequestTarget): boolean {
    const offered = query.get('token');
    if (offered !== null && path === '/' && this.matches(offered)) {
      query.delete('token');
      const rest = query.toString();
      response.statusCode = 303;
      response.setHeader('Location', rest === '' ? '/' : `/?${rest}`);
      // Lax: the address may have been opened from elsewhere, and the cookie has to come along when the page is asked
      // for again. Questions from other sites' pages bring no such cookie, and are refused anyway.
      response.setHeader('Set-Cookie', `${this.cookie}=${this.text}; Path=/; HttpOnly; SameSite=Lax`);
      response.end();
      return true;
    }
    if (this.isCarriedBy(request)) return false;
    throw new Refusal(
      401,
      'This server requires the key that it printed at startup.',
      'Open the complete URL that stepscope view printed, including ?token=….',
      { 'WWW-Authenticate': 'Bearer' },
    );
  }

  private isCarriedBy({ headers }: IncomingMessage): boolean {
    const bearer = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1];
    const cookies = (headers.cookie ?? '').split(';').map(part => part.trim());
    const carried = cookies
      .filter(part => part.startsWith(`${this.cookie}=`))
      .map(part => part.slice(this.cookie.length + 1));
    return [...carried, ...(bearer === undefined ? [] : [bearer])].some(text => this.matches(text));
  }

  /** Hashes are of one length, so comparing them takes one time, whatever was offered. */
  private matches(offered: string): boolean {
    const hash = (text: string) => createHash('sha256').update(text).digest();
    return timingSafeEqual(hash(offered), hash(this.text));
  }
}
