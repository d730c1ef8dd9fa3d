import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Client } from '../support/client.ts'
import type { Latencies } from './load.ts'

const MEGABYTE = 1e6

/** What is measured every few seconds. */
export interface Sample {
  /** Seconds since the start. */
  readonly at: number
  readonly memoryMb: number
  readonly descriptors: number
  readonly diskMb: number
  /** 99th percentile of the event loop delay since the last sample. */
  readonly loopDelayMs: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly operations: number
}

/** The process, the data folder and the load that are measured. */
export interface Measured {
  readonly pid: number
  readonly data: string
  readonly client: Client
  readonly latencies: Latencies
}

/** Linux only. */
export async function takeSample({ pid, data, client, latencies }: Measured, at: number): Promise<Sample> {
  const [status, descriptors, disk, metrics] = await Promise.all([
    readFile(`/proc/${pid}/status`, 'utf8'),
    readdir(`/proc/${pid}/fd`),
    bytesBelow(data),
    client.get('/metrics'),
  ])
  const resident = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
  const delay = /^carrel_nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(metrics.text)?.[1]
  if (resident === undefined || delay === undefined) throw new Error('the server shows no memory or no delay')
  const { p50, p99, count } = latencies.take()
  return {
    at,
    memoryMb: (Number(resident) * 1024) / MEGABYTE,
    descriptors: descriptors.length,
    diskMb: disk / MEGABYTE,
    loopDelayMs: Number(delay) * 1000,
    p50Ms: p50,
    p99Ms: p99,
    operations: count,
  }
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
