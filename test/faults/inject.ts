import { AssertionError } from 'node:assert'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from '../support/client.ts'
import { seededRandom } from '../support/random.ts'
import type { S3Endpoint } from '../support/s3.ts'
import { ADMIN } from '../support/server.ts'
import { Attempts, Counts, GivenUp } from './attempts.ts'
import { FaultCluster, type Setup } from './cluster.ts'
import type { Fault } from './faults.ts'
import { RealClient } from './real-client.ts'
import { createWriters, type Writer } from './writers.ts'

/** The result of one fault. */
export interface FaultReport {
  readonly fault: Fault
  readonly counts: Counts
  /** From its end until every node that runs carried out a small and a large upload. */
  readonly recoverySeconds: number
  /** Its setup could not be started here. */
  readonly skipped?: string
}

interface Options {
  readonly faults: readonly Fault[]
  readonly s3: S3Endpoint
  readonly seed: number
  /** A fault lasts for at most this long. */
  readonly mostSeconds?: number
  /** Runs `carrel check --read-data` on the data of each cluster, too. It gives way to all other processes, so a busy machine delays it. */
  readonly isChecked?: boolean
  /** The program of a real desktop client, which then is part of the load. It costs seconds to start and to settle. */
  readonly seafProgram?: string | undefined
  readonly onReport?: (report: FaultReport) => void
}

/** Acknowledged operations of each kind before a fault begins. */
const WARM_UP_OPERATIONS = 2
/** On a busy machine, a chunked upload takes some twenty seconds. */
const WARM_UP_MS = 240_000
const MAX_RECOVERY_MS = 120_000
const MAX_STUCK_MS = 90_000

/** Injects faults one after another under load. Those with the same setup share a cluster. */
export async function injectFaults({
  faults,
  s3,
  seed,
  mostSeconds,
  isChecked,
  seafProgram,
  onReport,
}: Options): Promise<FaultReport[]> {
  const reports: FaultReport[] = []
  for (const setup of new Set(faults.map((fault) => fault.setup))) {
    await using cluster = await FaultCluster.start(s3, setup)
    // It knows one address only.
    await using proxy = seafProgram === undefined ? undefined : await cluster.proxy()
    const addRealClient: AddWriter | undefined =
      seafProgram === undefined || proxy === undefined
        ? undefined
        : (client, random) => RealClient.create(seafProgram, client, proxy.url, random)
    for (const fault of faults.filter((one) => one.setup === setup)) {
      const options = { seed, mostSeconds: mostSeconds ?? Number.POSITIVE_INFINITY, addWriter: addRealClient }
      const report = await injectOne(cluster, fault, options)
      reports.push(report)
      onReport?.(report)
    }
    if (!isChecked) continue
    const findings = await cluster.check()
    reports.at(-1)?.counts.violations.push(...findings)
    for (const finding of findings) console.error(finding)
  }
  return reports
}

type AddWriter = (client: Client, random: () => number) => Promise<Writer>

async function injectOne(
  cluster: FaultCluster,
  fault: Fault,
  { seed, mostSeconds, addWriter }: { seed: number; mostSeconds: number; addWriter: AddWriter | undefined },
): Promise<FaultReport> {
  const random = seededRandom(seed)
  const counts = new Counts()
  const [entrance = ''] = cluster.entrances
  const client = await Client.signIn(entrance, ADMIN.email, ADMIN.password)
  await using opened = new AsyncDisposableStack()
  const writers = await createWriters(client, cluster.entrances, random)
  if (addWriter !== undefined) writers.push(await addWriter(client, random))
  for (const writer of writers) opened.use(writer)
  const stopping = new AbortController()
  const attempts = () =>
    new Attempts(cluster.entrances, client, counts, stopping.signal, Math.floor(random() * 3))
  const writing = Promise.all(writers.map((writer) => repeat(writer, attempts(), counts, stopping.signal)))
  await warmUp(writers, counts)
  await fault.inject(cluster, random)
  if (fault.seconds !== undefined) await delay(Math.min(fault.seconds, mostSeconds) * 1000)
  await fault.heal(cluster)
  const recoverySeconds = await recover(cluster, client, counts)
  stopping.abort()
  await writing
  await cluster.startAll()
  await settle(cluster, counts)
  const verifying = new Attempts(cluster.entrances, client, counts, new AbortController().signal)
  for (const writer of writers) await noting(counts, writer.kind, () => writer.verify(verifying))
  if (fault.expectsNoErrors && counts.errors > 0) counts.violations.push(`${counts.errors} operations failed`)
  if (counts.violations.length > 0) {
    for (const [index, { log }] of cluster.nodes.entries()) {
      for (const line of log.splice(0).slice(-5)) counts.context.push(`node ${index}: ${line.slice(0, 400)}`)
    }
  }
  return { fault, counts, recoverySeconds }
}

async function repeat(
  writer: Writer,
  attempts: Attempts,
  counts: Counts,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    counts.operations += 1
    try {
      await writer.write(attempts)
      counts.add(writer.kind, 'acknowledged')
    } catch (error) {
      counts.add(writer.kind, 'errors')
      if (!(error instanceof GivenUp)) counts.violations.push(`${writer.kind}: ${describe(error)}`)
      await delay(200)
    }
  }
}

async function noting(counts: Counts, kind: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    counts.violations.push(`${kind}, verified: ${describe(error)}`)
  }
}

function describe(error: unknown): string {
  if (error instanceof AssertionError)
    return `${String(error.actual).slice(0, 100)}: ${error.message.slice(0, 500)}`
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** Until each kind of operation was acknowledged a few times. */
async function warmUp(writers: readonly Writer[], counts: Counts): Promise<void> {
  const deadline = performance.now() + WARM_UP_MS
  for (;;) {
    const slow = writers.filter(
      ({ kind }) => (counts.kinds.get(kind)?.acknowledged ?? 0) < WARM_UP_OPERATIONS,
    )
    if (slow.length === 0) return
    if (performance.now() > deadline) {
      counts.violations.push(`without a fault, not acknowledged: ${slow.map(({ kind }) => kind).join(', ')}`)
      return
    }
    await delay(50)
  }
}

/** Seconds until every node that runs carries out a small and a large upload. */
async function recover(cluster: FaultCluster, { token, email }: Client, counts: Counts): Promise<number> {
  const began = performance.now()
  await Promise.all(
    cluster.alive.map(async ({ url }) => {
      const client = new Client(url, token, email)
      for (;;) {
        try {
          await probe(client)
          return
        } catch (error) {
          if (performance.now() - began > MAX_RECOVERY_MS) {
            counts.violations.push(`${url} has not recovered: ${describe(error)}`)
            return
          }
        }
        await delay(100)
      }
    }),
  )
  return (performance.now() - began) / 1000
}

async function probe(client: Client): Promise<void> {
  const library = await client.createLibrary('Probe')
  for (const size of [10, 100_000]) {
    const link = await client.get(`/api2/repos/${library}/upload-link/`, { p: '/' })
    if (link.status !== 200) throw new Error(`${link.status} ${link.text}`)
    const form = new FormData()
    form.set('parent_dir', '/')
    form.set('file', new Blob([new Uint8Array(size).map(() => Math.floor(Math.random() * 256))]), `${size}`)
    const response = await fetch(link.body, { method: 'POST', body: form })
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
    await response.arrayBuffer()
  }
}

/** Waits until nothing is left over that no node works on. */
async function settle(cluster: FaultCluster, counts: Counts): Promise<void> {
  const deadline = performance.now() + MAX_STUCK_MS
  for (;;) {
    const stuck = await cluster.stuck()
    if (stuck.length === 0) return
    if (performance.now() > deadline) {
      counts.violations.push(`after ${MAX_STUCK_MS / 1000} s there are: ${stuck.join(', ')}`)
      return
    }
    await delay(500)
  }
}

export type { Setup }
