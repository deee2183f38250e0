/**
 * A real Slurm of two nodes on this machine, in a folder of its own: munge with its own key and socket, a controller and
 * two node daemons on free ports. Everything it started is stopped by process id.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import * as os from 'node:os';
import * as path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export class SlurmCluster {
  readonly env: NodeJS.ProcessEnv;

  private constructor(private readonly folder: string) {
    this.env = { ...process.env, SLURM_CONF: path.join(folder, 'slurm.conf') };
  }

  static async start(folder: string): Promise<SlurmCluster> {
    const cluster = new SlurmCluster(folder);
    for (const name of ['state', 'log', 'munge']) fs.mkdirSync(path.join(folder, name));
    // munged looks at the permissions of every folder above its files.
    fs.chmodSync(folder, 0o755);
    fs.writeFileSync(path.join(folder, 'munge/key'), randomBytes(128), { mode: 0o400 });
    const munge = (name: string) => path.join(folder, 'munge', name);
    execFileSync('/usr/sbin/munged', [
      ...['--force', '--num-threads=1', `--key-file=${munge('key')}`, `--socket=${munge('socket')}`],
      ...[`--pid-file=${munge('pid')}`, `--log-file=${munge('log')}`, `--seed-file=${munge('seed')}`],
    ]);
    fs.writeFileSync(cluster.env.SLURM_CONF!, conf(folder, await freePorts(3)));
    cluster.startController();
    for (const node of ['n1', 'n2']) execFileSync('/usr/sbin/slurmd', ['-N', node], { env: cluster.env });
    await cluster.until(() => cluster.ask('sinfo', '-h', '-t', 'idle', '-o', '%D') === '2', 'two idle nodes');
    return cluster;
  }

  /** Trimmed output; empty where the controller does not answer. */
  ask(command: string, ...args: string[]): string {
    return spawnSync(command, args, { env: this.env, encoding: 'utf8' }).stdout.trim();
  }

  startController(): void {
    execFileSync('/usr/sbin/slurmctld', ['-i'], { env: this.env });
  }

  async stopController(): Promise<void> {
    await this.stop('ctld.pid', 'SIGTERM');
  }

  /** As when its power is cut: the daemon and everything it runs end at once. Gives how many tasks that were. */
  async killNode(node: string): Promise<number> {
    const tasks = processesOf(this.env.SLURM_CONF!, node);
    const stopped = this.stop(`d.${node}.pid`, 'SIGKILL');
    for (const pid of tasks) kill(pid, 'SIGKILL');
    await stopped;
    return tasks.length;
  }

  tasksOn(node: string): number {
    return processesOf(this.env.SLURM_CONF!, node).length;
  }

  async close(): Promise<void> {
    this.ask('scancel', '--state=RUNNING,PENDING', `--user=${os.userInfo().username}`);
    const daemons = ['d.n1.pid', 'd.n2.pid', 'ctld.pid', 'munge/pid'];
    await Promise.all(daemons.map(file => this.stop(file, 'SIGKILL')));
    // What watches over a task outlives its daemon.
    for (const pid of processesIn(this.folder)) kill(pid, 'SIGKILL');
  }

  private async stop(pidFile: string, signal: NodeJS.Signals): Promise<void> {
    const file = path.join(this.folder, pidFile);
    if (!fs.existsSync(file)) return;
    const pid = Number(fs.readFileSync(file, 'utf8'));
    if (!kill(pid, signal)) return;
    await this.until(() => !isRunning(pid), `process ${pid} to end`);
  }

  async until(holds: () => boolean, what: string): Promise<void> {
    for (let i = 0; i < 300; i++) {
      if (holds()) return;
      await sleep(100);
    }
    const logs = fs.readdirSync(path.join(this.folder, 'log'));
    const tails = logs.map(name => fs.readFileSync(path.join(this.folder, 'log', name), 'utf8').slice(-500));
    throw new Error(`waited in vain for ${what}\n${tails.join('\n')}`);
  }
}

const conf = (folder: string, [controller, n1, n2]: readonly number[]): string => {
  const { username } = os.userInfo();
  const host = os.hostname().split('.')[0];
  const node = (name: string, port: number) =>
    `NodeName=${name} NodeHostname=${host} NodeAddr=127.0.0.1 Port=${port} CPUs=1 State=UNKNOWN`;
  return `${[
    ...['ClusterName=stepscope', `SlurmctldHost=${host}(127.0.0.1)`, `SlurmctldPort=${controller}`],
    ...['AuthType=auth/munge', `AuthInfo=socket=${folder}/munge/socket`, 'CredType=cred/munge'],
    ...[`SlurmUser=${username}`, `SlurmdUser=${username}`, 'MpiDefault=none'],
    ...[`StateSaveLocation=${folder}/state`, `SlurmdSpoolDir=${folder}/spool.%n`],
    ...[`SlurmctldPidFile=${folder}/ctld.pid`, `SlurmdPidFile=${folder}/d.%n.pid`],
    ...[`SlurmctldLogFile=${folder}/log/ctld`, `SlurmdLogFile=${folder}/log/d.%n`],
    ...['ProctrackType=proctrack/linuxproc', 'TaskPlugin=task/none', 'ReturnToService=2'],
    ...['SelectType=select/cons_tres', 'SelectTypeParameters=CR_Core'],
    // A node that is gone is noticed within seconds, and tasks begin without a pause.
    ...[
      'SlurmdTimeout=3',
      'MessageTimeout=3',
      'SchedulerParameters=sched_min_interval=0,batch_sched_delay=0',
    ],
    ...[node('n1', n1), node('n2', n2), 'PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP'],
  ].join('\n')}\n`;
};

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>(resolve => {
          const server = createServer().listen(0, '127.0.0.1', () => resolve(server));
        }),
    ),
  );
  const ports = servers.map(server => (server.address() as { port: number }).port);
  for (const server of servers) server.close();
  return ports;
}

/** Tasks on a node of this cluster, and the daemons that watch over them. */
function processesOf(slurmConf: string, node: string): number[] {
  const found = new Set<number>();
  for (const name of fs.readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const variables = fs.readFileSync(`/proc/${name}/environ`, 'utf8').split('\0');
      if (!variables.includes(`SLURM_CONF=${slurmConf}`) || !variables.includes(`SLURMD_NODENAME=${node}`))
        continue;
      found.add(Number(name));
      const parent = Number(/^PPid:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${name}/status`, 'utf8'))![1]);
      if (fs.readFileSync(`/proc/${parent}/cmdline`, 'utf8').startsWith('slurmstepd')) found.add(parent);
    } catch {
      // It has ended, or is another user's.
    }
  }
  return [...found];
}

/** Processes of the cluster by their folder: they overwrite the environment by which others are found. */
function processesIn(folder: string): number[] {
  return fs.readdirSync('/proc').flatMap(name => {
    try {
      const inside = /^\d+$/.test(name) && fs.readlinkSync(`/proc/${name}/cwd`).startsWith(`${folder}/`);
      return inside ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

/** One that nobody has waited for is still listed, and has ended all the same. */
function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/s.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

function kill(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
