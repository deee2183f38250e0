/** Where tests and benchmarks find a browser. */
import { existsSync } from 'node:fs';

export const NO_BROWSER = 'no browser: apt-get install chromium, or name one in CHROMIUM';

export function findBrowser(): string | undefined {
  return [
    process.env.CHROMIUM ?? '',
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
  ].find(file => file !== '' && existsSync(file));
}
