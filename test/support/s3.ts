import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import net, { type AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { findProgram } from '../../bin/system-programs.ts'

const exec = promisify(execFile)

/** Real implementations of S3: the object gateway of Ceph, and the S3 interface of OpenStack Swift. */
export const S3_KINDS = ['ceph', 'swift'] as const
export type S3Kind = (typeof S3_KINDS)[number]

/** An S3 service with an empty bucket. */
export interface S3Endpoint extends AsyncDisposable {
  readonly kind: S3Kind
  readonly endpoint: string
  readonly region: string
  readonly bucket: string
  readonly accessKey: string
  readonly secretKey: string
}

/** A service of its own. Disposal stops it and deletes its data. It also ends with this process. */
export interface S3Service extends S3Endpoint {
  /** Its processes. */
  readonly pids: readonly number[]
}

class S3Unavailable extends Error {
  override readonly name = 'S3Unavailable'
}

const PROGRAMS: Record<S3Kind, readonly string[]> = {
  ceph: ['radosgw', 'radosgw-admin', 'ceph-mon', 'ceph-osd', 'ceph', 'setpriv'],
  swift: [
    'swift-proxy-server',
    'swift-object-server',
    'swift-container-server',
    'swift-account-server',
    'memcached',
    'setpriv',
  ],
}

/** Why a service cannot be started here; undefined if it can. */
export function s3SkipReason(kind: S3Kind): string | undefined {
  if (process.getuid?.() !== 0) return `the S3 service of ${kind} is started as root only`
  const missing = PROGRAMS[kind].find((program) => findProgram(program) === undefined)
  return missing && `${missing} is not installed`
}

/** Starts a service on free ports, as root, with its data in a temporary folder. Throws S3Unavailable with the reason. */
export async function startS3(kind: S3Kind): Promise<S3Service> {
  const reason = s3SkipReason(kind)
  if (reason !== undefined) throw new S3Unavailable(reason)
  const daemons = new Daemons(await mkdtemp(path.join(os.tmpdir(), `carrel-${kind}-`)))
  try {
    await chmod(daemons.folder, 0o755)
    const accessKey = kind === 'swift' ? 'test:tester' : `key${randomBytes(6).toString('hex')}`
    const keys = { accessKey, secretKey: randomBytes(16).toString('hex') }
    const start = kind === 'ceph' ? startCeph : startSwift
    const endpoint = `http://127.0.0.1:${await start(daemons, keys)}`
    const service = {
      kind,
      endpoint,
      region: 'us-east-1',
      bucket: newBucketName(),
      ...keys,
      pids: daemons.pids,
    }
    await createBucket(service, () => !daemons.hasEnded)
    return { ...service, [Symbol.asyncDispose]: () => daemons.stop() }
  } catch (error) {
    const logs = await daemons.logs()
    await daemons.stop()
    throw new Error(`${kind} did not start:\n${logs}`, { cause: error })
  }
}

const newBucketName = () => `bucket-${randomBytes(4).toString('hex')}`

/** Names the service in the environment of test processes. */
export function shareS3Service({ kind, endpoint, region, bucket, accessKey, secretKey }: S3Endpoint): void {
  const shared = { kind, endpoint, region, bucket, accessKey, secretKey }
  process.env['CARREL_TEST_CLUSTER_S3'] = JSON.stringify(shared)
}

/** The service of the test run, which is not to be stopped; undefined if it has none. */
export function sharedS3Service(): Omit<S3Endpoint, typeof Symbol.asyncDispose> | undefined {
  const text = process.env['CARREL_TEST_CLUSTER_S3']
  return text === undefined ? undefined : JSON.parse(text)
}

/** A new bucket in the service of the test run, which takes seconds to start. A service of its own if the run has none of the kind. */
export async function openS3(kind: S3Kind): Promise<S3Endpoint> {
  const shared = sharedS3Service()
  if (shared?.kind !== kind) return startS3(kind)
  const endpoint = { ...shared, bucket: newBucketName(), [Symbol.asyncDispose]: async () => {} }
  await createBucket(endpoint, () => true)
  return endpoint
}

/** As `openS3`, or skips the test and returns undefined. With CI=true it fails instead. */
export async function s3OrSkip(
  t: { skip(message?: string): void },
  kind: S3Kind,
): Promise<S3Endpoint | undefined> {
  try {
    return await openS3(kind)
  } catch (error) {
    if (!(error instanceof S3Unavailable) || process.env['CI'] === 'true') throw error
    t.skip(error.message)
    return undefined
  }
}

interface Keys {
  readonly accessKey: string
  readonly secretKey: string
}

/** The processes of a service. */
class Daemons {
  readonly folder: string
  readonly #children: ChildProcess[] = []

  constructor(folder: string) {
    this.folder = folder
  }

  /** Starts a program in the foreground. The kernel kills it when this process ends, however that happens. */
  start(name: string, program: string, ...args: string[]): void {
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args], {
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const log = createWriteStream(path.join(this.folder, `${name}.out`))
    child.stdout.pipe(log, { end: false })
    child.stderr.pipe(log, { end: false })
    this.#children.push(child)
  }

  get pids(): number[] {
    return this.#children.flatMap(({ pid }) => pid ?? [])
  }

  get hasEnded(): boolean {
    return this.#children.some(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null)
  }

  async logs(): Promise<string> {
    const found: string[] = []
    for (const name of ['mon', 'osd', 'rgw', 'account', 'container', 'object', 'proxy', 'memcached']) {
      const text = await readFile(path.join(this.folder, `${name}.out`), 'utf8').catch(() => '')
      if (text !== '') found.push(`${name}: ${text.slice(-1500)}`)
    }
    return found.join('\n')
  }

  async stop(): Promise<void> {
    for (const child of this.#children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    }
    await rm(this.folder, { recursive: true, force: true })
  }
}

/** One monitor, one store in memory, one gateway. */
async function startCeph(daemons: Daemons, { accessKey, secretKey }: Keys): Promise<number> {
  const { folder } = daemons
  const { port, monitorPort } = await freePorts('port', 'monitorPort')
  const at = (name: string) => path.join(folder, name)
  for (const name of ['mon', 'osd', 'rgw', 'run']) await mkdir(at(name))
  const cluster = randomUUID()
  await writeFile(
    at('ceph.conf'),
    ini({
      global: {
        fsid: cluster,
        mon_host: `v2:127.0.0.1:${monitorPort}`,
        public_addr: '127.0.0.1',
        ms_bind_ipv6: 'false',
        keyring: at('keyring'),
        run_dir: at('run'),
        admin_socket: at('run/$name.asok'),
        log_to_file: 'false',
        mon_cluster_log_to_file: 'false',
        log_to_stderr: 'true',
        auth_allow_insecure_global_id_reclaim: 'true',
        osd_pool_default_size: '1',
        osd_pool_default_min_size: '1',
        mon_allow_pool_size_one: 'true',
        osd_pool_default_pg_num: '4',
        osd_pool_default_pgp_num: '4',
        osd_pool_default_pg_autoscale_mode: 'off',
        osd_crush_chooseleaf_type: '0',
        mon_max_pg_per_osd: '1000',
      },
      mon: { mon_data: at('mon') },
      osd: {
        osd_data: at('osd'),
        osd_objectstore: 'memstore',
        // A limit. Suites of a run share the service and do not delete what they store.
        memstore_device_bytes: String(2 ** 32),
        osd_class_load_list: '*',
        osd_class_default_list: '*',
      },
      'client.rgw': {
        rgw_data: at('rgw'),
        rgw_frontends: `beast endpoint=127.0.0.1:${port}`,
        rgw_override_bucket_index_max_shards: '1',
      },
    }),
  )
  const conf = ['-c', at('ceph.conf')]
  const caps = ['mon', 'osd', 'mgr'].flatMap((service) => ['--cap', service, 'allow *'])
  await exec('ceph-authtool', ['-C', at('keyring'), '--gen-key', '-n', 'mon.', '--cap', 'mon', 'allow *'])
  for (const name of ['client.admin', 'client.rgw', 'osd.0']) {
    await exec('ceph-authtool', [at('keyring'), '--gen-key', '-n', name, ...caps])
  }
  const monitor = `[v2:127.0.0.1:${monitorPort}]`
  await exec('monmaptool', ['--create', '--fsid', cluster, '--addv', 'a', monitor, at('monmap')])
  await exec('ceph-mon', ['--mkfs', '-i', 'a', '--keyring', at('keyring'), '--monmap', at('monmap'), ...conf])
  daemons.start('mon', 'ceph-mon', '-f', '-i', 'a', ...conf)
  const store = randomUUID()
  await exec('ceph', [...conf, '--connect-timeout', '60', 'osd', 'new', store])
  await exec('ceph-osd', ['-i', '0', '--mkfs', '--osd-uuid', store, ...conf])
  daemons.start('osd', 'ceph-osd', '-f', '-i', '0', ...conf)
  daemons.start('rgw', 'radosgw', '-f', '-n', 'client.rgw', ...conf)
  await listening(daemons, port)
  const user = ['user', 'create', '--uid=test', '--display-name=test']
  const keyFlags = [`--access-key=${accessKey}`, `--secret-key=${secretKey}`]
  await exec('radosgw-admin', ['-n', 'client.rgw', ...conf, ...user, ...keyFlags])
  return port
}

/** Rings with one device. */
const RINGS = `
import sys
from swift.common.ring import RingBuilder
folder = sys.argv[1]
for name, port in zip(('account', 'container', 'object'), map(int, sys.argv[2:5])):
    builder = RingBuilder(4, 1, 0)
    builder.add_dev({'id': 0, 'region': 1, 'zone': 1, 'ip': '127.0.0.1', 'port': port, 'device': 'disk', 'weight': 1,
                     'replication_ip': '127.0.0.1', 'replication_port': port, 'meta': ''})
    builder.rebalance()
    builder.get_ring().save(folder + '/' + name + '.ring.gz')
`

/** One device with one replica, the servers of accounts, containers and objects, and the proxy with the S3 interface. */
async function startSwift(daemons: Daemons, { accessKey, secretKey }: Keys): Promise<number> {
  const { folder } = daemons
  const { port, cache, ...servers } = await freePorts('port', 'cache', 'account', 'container', 'object')
  const { account, container, object } = servers
  await mkdir(path.join(folder, 'devices/disk'), { recursive: true })
  await exec('/usr/bin/python3', ['-c', RINGS, folder, String(account), String(container), String(object)])
  const common = {
    bind_ip: '127.0.0.1',
    user: os.userInfo().username,
    swift_dir: folder,
    workers: '0',
    log_level: 'ERROR',
  }
  for (const [name, own] of Object.entries(servers)) {
    const file = path.join(folder, `${name}-server.conf`)
    await writeFile(
      file,
      ini({
        DEFAULT: {
          ...common,
          bind_port: String(own),
          devices: path.join(folder, 'devices'),
          mount_check: 'false',
          disable_fallocate: 'true',
        },
        'pipeline:main': { pipeline: `${name}-server` },
        [`app:${name}-server`]: { use: `egg:swift#${name}` },
      }),
    )
    daemons.start(name, `swift-${name}-server`, file)
  }
  daemons.start('memcached', 'memcached', '-u', 'nobody', '-l', '127.0.0.1', '-p', String(cache), '-m', '32')
  const filters = ['catch_errors', 'cache', 's3api', 'tempauth', 'bulk', 'slo', 'copy']
  const egg: Record<string, string> = { cache: 'memcache' }
  const options: Record<string, Record<string, string>> = {
    cache: { memcache_servers: `127.0.0.1:${cache}` },
    s3api: { location: 'us-east-1', check_bucket_owner: 'false' },
    tempauth: { [`user_${accessKey.replace(':', '_')}`]: `${secretKey} .admin` },
    slo: { minimum_segment_size: '1' },
  }
  const file = path.join(folder, 'proxy-server.conf')
  await writeFile(
    file,
    ini({
      DEFAULT: { ...common, bind_port: String(port) },
      'pipeline:main': { pipeline: [...filters, 'proxy-server'].join(' ') },
      ...Object.fromEntries(
        filters.map((name) => [
          `filter:${name}`,
          { use: `egg:swift#${egg[name] ?? name}`, ...options[name] },
        ]),
      ),
      'app:proxy-server': {
        use: 'egg:swift#proxy',
        account_autocreate: 'true',
        allow_account_management: 'true',
      },
    }),
  )
  daemons.start('proxy', 'swift-proxy-server', file)
  for (const one of [account, container, object, cache, port]) await listening(daemons, one)
  return port
}

/** The first requests may be refused while the parts of a service find each other. */
async function createBucket(
  service: Omit<S3Endpoint, typeof Symbol.asyncDispose>,
  isRunning: () => boolean,
): Promise<void> {
  const { endpoint, region, bucket, accessKey, secretKey } = service
  const client = new S3Client({
    endpoint,
    region,
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
    requestChecksumCalculation: 'WHEN_REQUIRED',
  })
  try {
    for (let tries = 0; ; tries += 1) {
      try {
        await client.send(new CreateBucketCommand({ Bucket: bucket }))
        return
      } catch (error) {
        if (tries === 300 || !isRunning()) throw error
        await wait(200)
      }
    }
  } finally {
    client.destroy()
  }
}

/** Polls until a daemon accepts connections. */
async function listening(daemons: Daemons, port: number): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const socket = net.connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isOpen) return
    if (tries === 600 || daemons.hasEnded) throw new Error(`nothing listens on port ${port}`)
    await wait(100)
  }
}

/** Ports that were free a moment ago. */
async function freePorts<N extends readonly string[]>(...names: N): Promise<Record<N[number], number>> {
  const servers = await Promise.all(
    names.map(async () => {
      const server = net.createServer().listen(0, '127.0.0.1')
      await once(server, 'listening')
      return server
    }),
  )
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  for (const server of servers) server.close()
  return Object.fromEntries(names.map((name, at) => [name, ports[at]])) as Record<N[number], number>
}

function ini(sections: Record<string, Record<string, string>>): string {
  return Object.entries(sections)
    .map(([name, values]) =>
      [`[${name}]`, ...Object.entries(values).map((pair) => pair.join(' = ')), ''].join('\n'),
    )
    .join('\n')
}
