import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { ADMIN } from '../support/server.ts'
import { Journal } from './journal.ts'
import { GRACE_SECONDS, Latencies, runLoad } from './load.ts'
import { liveBytes, type Sample, takeSample } from './samples.ts'
import { checkData, type Settled, settle } from './settle.ts'
import { type Limit, type Point, type Trend, trendOf } from './trend.ts'

export interface SoakOptions {
  readonly seconds: number
  /** Load-free time at the end, after which memory must have been given back. */
  readonly idleSeconds: number
  readonly paceMs: number
  readonly seed: number
  readonly sampleMs: number
  readonly onSample?: (sample: Sample) => void
}

export interface SoakReport {
  readonly samples: readonly Sample[]
  readonly trends: readonly { readonly title: string; readonly trend: Trend; readonly points: Point[] }[]
  /** Finished operations by kind. */
  readonly counts: ReadonlyMap<string, number>
  /** Bytes that garbage collections removed. */
  readonly freedBytes: number
  /** The most garbage of the second half that should have been gone, in MB. Undefined if that cannot be known, because there were too few collections. */
  readonly overdueMb: number | undefined
  /** Resident memory in MB: the most under load, and at the end of the idle time. */
  readonly peakMb: number
  readonly idleMb: number
  /** The disk after the server was stopped and everything unreachable was collected. */
  readonly settled: Settled
}

/** What must be flat, and how much growth over the second half of the run is still noise. */
const WATCHED: readonly {
  readonly title: string
  readonly value: (sample: Sample) => number
  readonly limit: Limit
}[] = [
  { title: 'resident memory (MB)', value: (s) => s.memoryMb, limit: { growth: 25, share: 0.1 } },
  { title: 'open descriptors', value: (s) => s.descriptors, limit: { growth: 10, share: 0.1 } },
  { title: 'event loop delay, p99 (ms)', value: (s) => s.loopDelayMs, limit: { growth: 20, share: 0.5 } },
  { title: 'latency, p50 (ms)', value: (s) => s.p50Ms, limit: { growth: 50, share: 0.5 } },
  { title: 'latency, p99 (ms)', value: (s) => s.p99Ms, limit: { growth: 500, share: 0.5 } },
]

/** Garbage beyond what the journal explains, in MB. Files are counted in whole disk blocks, and the server collects at other moments. */
const ALLOWED_OVERDUE_MB = 50

export function isGarbageGone({ overdueMb }: Pick<SoakReport, 'overdueMb'>): boolean {
  return overdueMb !== undefined && overdueMb <= ALLOWED_OVERDUE_MB
}

/** Settings that make the server collect what is replaced while the run lasts. */
const SETTINGS = { CARREL_LOG: 'info', CARREL_GC_GRACE_SECONDS: GRACE_SECONDS }

/** Puts a server in a process of its own under mixed load and samples it. Throws at the first wrong response. */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-soak-'))
  const [data, target] = [path.join(folder, 'data'), path.join(folder, 'backup')]
  try {
    await using server = await spawnServer(data, SETTINGS)
    const client = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
    const latencies = new Latencies()
    const freed = { bytes: 0 }
    const journal = new Journal()
    const measured = { pid: server.process.pid ?? 0, data, client, latencies, journal }
    const samples: Sample[] = []
    const stopping = new AbortController()
    const ended = Promise.withResolvers<never>()
    server.process.once('exit', (code, signal) => {
      ended.reject(new Error(`the server ended with ${signal ?? code}`))
    })
    // Thrown by the next sample. The end of the run is no failure.
    ended.promise.catch(() => stopping.abort())
    const { paceMs, seed, seconds, sampleMs } = options
    const load = runLoad(client, latencies, {
      data,
      target,
      freed,
      journal,
      paceMs,
      seed,
      signal: stopping.signal,
    })
    // A wrong response ends the sampling, and is thrown below.
    load.catch(() => stopping.abort())
    const startedAt = performance.now()
    const secondsPassed = () => (performance.now() - startedAt) / 1000
    while (secondsPassed() < seconds && !stopping.signal.aborted) {
      await delay(sampleMs, undefined, { signal: stopping.signal }).catch(() => {})
      const sample = await Promise.race([ended.promise, takeSample(measured, secondsPassed())])
      samples.push(sample)
      options.onSample?.(sample)
    }
    stopping.abort()
    await load
    await delay(options.idleSeconds * 1000)
    const idle = await takeSample(measured, secondsPassed())
    const live = await liveBytes(client)
    assert.equal(await server.stop(), 0)
    const operations = latencies.counts.values().reduce((sum, count) => sum + count, 0)
    const settled = await settle(data, live, operations)
    await checkData(data)
    const trends = WATCHED.map(({ title, value, limit }) => {
      const points = samples.map((sample) => ({ at: sample.at, value: value(sample) }))
      return { title, points, trend: trendOf(points, limit) }
    })
    const overdue = samples.flatMap(({ at, overdueMb }) => (at >= seconds / 2 ? (overdueMb ?? []) : []))
    const peakMb = Math.max(...samples.map(({ memoryMb }) => memoryMb))
    return {
      samples,
      trends,
      counts: latencies.counts,
      freedBytes: freed.bytes,
      overdueMb: overdue.length === 0 ? undefined : Math.max(...overdue),
      peakMb,
      idleMb: idle.memoryMb,
      settled,
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
