/**
 * Who may ask. Any page in the user's browser can send requests to localhost, and a hostile name server can make a
 * foreign name point here; so a request must name us as its host, and must not come from another site's page.
 */
import type { IncomingMessage } from 'node:http';
import * as os from 'node:os';
import { Refusal } from './refusal.js';

const methods = ['GET', 'HEAD', 'PUT'];
const loopbackNames = ['localhost', '127.0.0.1', '::1'];
const everywhere = ['0.0.0.0', '::'];

export const isLoopback = (host: string): boolean => loopbackNames.includes(host.toLowerCase());

/** An IPv6 address is bracketed where a port follows. */
export const inUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/** Names of this machine for others, where it listens on all its addresses: an address first, as that always works. */
export function machineNames(): string[] {
  const addresses = Object.values(os.networkInterfaces()).flatMap(list => list ?? []);
  const outside = addresses.filter(({ internal }) => !internal);
  outside.sort((a, b) => a.family.localeCompare(b.family));
  return [...outside.map(({ address }) => address), os.hostname()];
}

/** The name to print: one that can be typed into a browser. */
export const reachableName = (host: string): string =>
  everywhere.includes(host) ? machineNames()[0] : host.toLowerCase();

export class Guard {
  /** What a Host header may say. */
  private readonly hosts: ReadonlySet<string>;

  constructor(
    host: string,
    private readonly port: number,
  ) {
    const own = everywhere.includes(host) ? machineNames() : [host];
    const names = [...loopbackNames, ...own].map(name => inUrl(name.toLowerCase()));
    // Browsers leave the port out where it is the usual one.
    this.hosts = new Set(names.flatMap(name => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`])));
  }

  check(request: IncomingMessage, path: string): void {
    const { headers, method = '' } = request;
    const host = headers.host?.toLowerCase() ?? '';
    if (!this.hosts.has(host)) {
      throw new Refusal(
        403,
        `This server does not accept the host name ${JSON.stringify(host)}.`,
        `Open http://localhost:${this.port}/ (through a tunnel: use the same port on both ends).`,
      );
    }
    if (!methods.includes(method)) {
      throw new Refusal(405, `Method ${method} is not supported.`, `Supported: ${methods.join(', ')}.`, {
        Allow: methods.join(', '),
      });
    }
    const { origin } = headers;
    if (origin !== undefined && origin.toLowerCase() !== `http://${host}`) throw foreign();
    const site = headers['sec-fetch-site'];
    const isOwn = site === undefined || site === 'same-origin' || site === 'none';
    if (!isOwn && !isVisit(request, path)) throw foreign();
    // A header of our own cannot be sent from another site without asking first, and we answer no such question.
    if (method === 'PUT' && headers['x-stepscope'] !== '1') {
      throw new Refusal(
        403,
        'Only the Stepscope page can upload a profile.',
        'Send the header X-Stepscope: 1',
      );
    }
  }
}

const foreign = () =>
  new Refusal(403, 'Requests from other sites are not allowed.', 'Open the stepscope view page directly.');

/** Following a link to the page, in a tab of its own. */
function isVisit({ headers, method }: IncomingMessage, path: string): boolean {
  const destination = headers['sec-fetch-dest'];
  return (
    method === 'GET' &&
    path === '/' &&
    headers['sec-fetch-mode'] === 'navigate' &&
    (destination === undefined || destination === 'document')
  );
}
