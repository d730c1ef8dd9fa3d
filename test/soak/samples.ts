import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Client } from '../support/client.ts'
import type { Journal } from './journal.ts'
import type { Latencies } from './load.ts'

const MEGABYTE = 1e6

/** What is measured every few seconds. */
export interface Sample {
  /** Seconds since the start. */
  readonly at: number
  readonly memoryMb: number
  /** Parts of the memory, which tell what grows. */
  readonly parts: MemoryParts
  readonly descriptors: number
  readonly diskMb: number
  /** Block files beyond the live bytes and what the journal explains: garbage that should be gone. Undefined if it cannot be known yet. */
  readonly overdueMb: number | undefined
  /** 99th percentile of the event loop delay since the last sample. */
  readonly loopDelayMs: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly operations: number
}

/** In MB. What is anonymous and in neither of the first two is held by native code, or by the allocator for the next request. */
interface MemoryParts {
  /** Live and dead objects of JavaScript. */
  readonly heap: number
  /** Buffers outside of the heap. */
  readonly external: number
  /** Resident and not backed by a file. */
  readonly anonymous: number
}

/** The process, the data folder and the load that are measured. */
export interface Measured {
  readonly pid: number
  readonly data: string
  readonly client: Client
  readonly latencies: Latencies
  readonly journal: Journal
}

/** Linux only. */
export async function takeSample(measured: Measured, at: number): Promise<Sample> {
  const { pid, data, client, latencies, journal } = measured
  const [status, rollup, descriptors, disk, metrics, blocks, live] = await Promise.all([
    readFile(`/proc/${pid}/status`, 'utf8'),
    readFile(`/proc/${pid}/smaps_rollup`, 'utf8'),
    readdir(`/proc/${pid}/fd`),
    bytesBelow(data),
    client.get('/metrics'),
    bytesBelow(path.join(data, 'blocks')),
    liveBytes(client),
  ])
  const explained = journal.explainedAt(journal.now())
  const resident = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
  const anonymous = /^Anonymous:\s+(\d+) kB$/m.exec(rollup)?.[1]
  if (resident === undefined || anonymous === undefined) throw new Error('the kernel shows no memory')
  const { p50, p99, count } = latencies.take()
  return {
    at,
    memoryMb: (Number(resident) * 1024) / MEGABYTE,
    parts: {
      heap: metric(metrics.text, 'nodejs_heap_size_used_bytes') / MEGABYTE,
      external: metric(metrics.text, 'nodejs_external_memory_bytes') / MEGABYTE,
      anonymous: (Number(anonymous) * 1024) / MEGABYTE,
    },
    descriptors: descriptors.length,
    diskMb: disk / MEGABYTE,
    overdueMb: explained && (blocks - live - explained) / MEGABYTE,
    loopDelayMs: metric(metrics.text, 'nodejs_eventloop_lag_p99_seconds') * 1000,
    p50Ms: p50,
    p99Ms: p99,
    operations: count,
  }
}

/** Sum of the sizes of all libraries of an account. */
export async function liveBytes(client: Client): Promise<number> {
  const { status, text, body } = await client.get('/api/v2.1/repos/')
  if (status !== 200) throw new Error(`${status} ${text}`)
  return body.repos.reduce((sum: number, { size }: { size: number }) => sum + size, 0)
}

/** Allocated bytes of all files below a folder. */
export async function bytesBelow(folder: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue
    // A file may be gone since it was listed.
    const stats = await stat(path.join(entry.parentPath, entry.name)).catch(() => undefined)
    bytes += (stats?.blocks ?? 0) * 512
  }
  return bytes
}

function metric(text: string, name: string): number {
  const value = new RegExp(`^carrel_${name} (\\S+)$`, 'm').exec(text)?.[1]
  if (value === undefined) throw new Error(`the server shows no ${name}`)
  return Number(value)
}
