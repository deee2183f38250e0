/** The server: the official SDK speaks the protocol on standard input and output, everything else is in this folder. */
import { UserError } from '../base/user-error.js';
import { AllowedFolders } from './allowed-folders.js';
import { answerCall } from './answer-call.js';
import { definitionAt, definitions } from './definitions.js';
import { BoundedRuns } from './run-bounded.js';
import { inputSchema } from './tool.js';
import { tools } from './tools.js';

const PACKAGE = '@modelcontextprotocol/server';
const STDIO = '@modelcontextprotocol/server/stdio';
const PAGE = 40;

const INSTRUCTIONS =
  'Stepscope explains where the time of LLM inference steps goes. Call diagnose first; then explain or analyze for the finding with the largest cost; then compare after a change. Answers are JSON of at most maxBytes. "not-recorded" is not "no problem". Lists that were cut name a cursor for the tool more. Resource stepscope://guide has the order of questions.';

const more = {
  name: 'more',
  title: 'More rows',
  description: 'The next rows of a list that was cut: give its cursor.',
  inputSchema: {
    type: 'object' as const,
    properties: { cursor: { type: 'string', maxLength: 40_000 } },
    required: ['cursor'],
    additionalProperties: false,
  },
};

interface McpOptions {
  readonly folders: readonly string[];
  readonly version: string;
  readonly memoryBytes: number;
  readonly onError: (error: Error) => void;
}

/** Ends when the client closes its side. */
export async function serveMcp({ folders: given, version, memoryBytes, onError }: McpOptions): Promise<void> {
  const folders = new AllowedFolders(given);
  const runs = new BoundedRuns(memoryBytes);
  const { Server } = await load<typeof import('@modelcontextprotocol/server')>(PACKAGE);
  const { serveStdio, StdioServerTransport } =
    await load<typeof import('@modelcontextprotocol/server/stdio')>(STDIO);
  const make = () => {
    const server = new Server(
      { name: 'stepscope', version },
      { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
    );
    server.setRequestHandler('tools/list', () => ({
      tools: [
        ...tools.map(tool => ({
          ...{ name: tool.name, title: tool.title, description: tool.about, inputSchema: inputSchema(tool) },
          annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
        })),
        more,
      ],
    }));
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      try {
        const text = await answerCall(
          params.name,
          params.arguments ?? {},
          folders,
          runs,
          context.mcpReq.signal,
        );
        return { content: [{ type: 'text', text }] };
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        return { isError: true, content: [{ type: 'text', text: `${error.message}\n${error.hint}` }] };
      }
    });
    server.setRequestHandler('resources/list', ({ params }) => {
      const from = /^\d{1,6}$/.test(params?.cursor ?? '') ? Number(params?.cursor) : 0;
      const all = definitions();
      const next = from + PAGE;
      return {
        resources: all.slice(from, next).map(({ uri, name }) => ({ uri, name, mimeType: 'text/markdown' })),
        ...(next < all.length ? { nextCursor: String(next) } : {}),
      };
    });
    server.setRequestHandler('resources/read', ({ params: { uri } }) => ({
      contents: [{ uri, mimeType: 'text/markdown', text: definitionAt(uri).text }],
    }));
    return server;
  };
  const transport = new StdioServerTransport();
  const handle = serveStdio(make, { transport, onerror: onError });
  await new Promise<void>(resolve => {
    process.stdin.once('end', resolve);
    process.stdin.once('close', resolve);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
  await handle.close();
}

async function load<Package>(name: string): Promise<Package> {
  try {
    return (await import(name)) as Package;
  } catch (error) {
    throw new UserError(
      'not-found',
      `The MCP server package is not installed (${name}: ${(error as NodeJS.ErrnoException).code}).`,
      `Install it next to stepscope: npm install ${PACKAGE}`,
    );
  }
}
