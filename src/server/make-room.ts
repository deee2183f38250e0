/** Bounds the connections of a server. Idle ones give way to new ones: holding many open must not lock anyone out. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export function makeRoom(server: Server, most: number): void {
  /** In the order in which they came; the number of requests each waits for. */
  const open = new Map<Socket, number>();
  server.on('connection', socket => {
    open.set(socket, 0);
    socket.once('close', () => open.delete(socket));
    if (open.size <= most) return;
    const [idle] = [...open].find(([other, asked]) => asked === 0 && other !== socket) ?? [socket];
    idle.destroy();
    open.delete(idle);
  });
  server.prependListener('request', (request, response) => {
    const { socket } = request;
    open.set(socket, (open.get(socket) ?? 0) + 1);
    response.once('close', () => {
      if (open.has(socket)) open.set(socket, Math.max(0, (open.get(socket) ?? 1) - 1));
    });
  });
}
