import assert from 'node:assert/strict'
import type { Client } from '../support/client.ts'
import { carrel } from '../support/command.ts'
import { bytesBelow } from './samples.ts'

/** The disk use of a stopped server from which garbage collection has removed everything it can. */
export interface Settled {
  /** Sum of the sizes of all libraries, in bytes. */
  readonly liveBytes: number
  /** Allocated by all files of the data folder: blocks, databases, and what else there is. */
  readonly diskBytes: number
  /** Before that, in bytes. */
  readonly unsettledBytes: number
  /** Collections until one found nothing to do. */
  readonly collections: number
}

/**
 * What the disk may use beyond the live bytes: empty databases and their indexes, rows of files and commits, and the last part of the
 * last disk block of each file. Does not depend on how long or how fast the load was.
 */
const OVERHEAD = { bytes: 10_000_000, share: 0.02 }

const MAX_COLLECTIONS = 10

/** Sum of the sizes of all libraries of an account. */
export async function liveBytes(client: Client): Promise<number> {
  const { status, text, body } = await client.get('/api/v2.1/repos/')
  assert.equal(status, 200, text)
  return body.repos.reduce((sum: number, { size }: { size: number }) => sum + size, 0)
}

/** Collects until nothing is condemned or deleted any more. The server must be stopped. */
export async function settle(data: string, live: number): Promise<Settled> {
  const unsettledBytes = await bytesBelow(data)
  for (let collections = 1; collections <= MAX_COLLECTIONS; collections += 1) {
    const report = JSON.parse(await run(['gc', '--json', '--gc-grace-seconds', '0', '--data', data]))
    const counts = [...Object.values(report.condemned), ...Object.values(report.deleted)]
    if (counts.every((count) => count === 0)) {
      return { liveBytes: live, diskBytes: await bytesBelow(data), unsettledBytes, collections }
    }
  }
  throw new Error(`garbage collection still found something after ${MAX_COLLECTIONS} collections`)
}

/** Nothing is lost or damaged, and all derived values agree. */
export async function checkData(data: string): Promise<void> {
  await run(['check', '--read-data', '--data', data])
}

export function isSettledSmall({ liveBytes: live, diskBytes }: Settled): boolean {
  return diskBytes >= live && diskBytes <= live * (1 + OVERHEAD.share) + OVERHEAD.bytes
}

async function run(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await carrel(args)
  assert.equal(code, 0, `carrel ${args.join(' ')}: ${stdout}${stderr}`)
  return stdout
}
