import assert from 'node:assert/strict'
import { appendFileSync, readFileSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import type { FaultInjector } from '../support/fault-injection.ts'
import { hashOf } from '../support/workload.ts'
import { DiskModel } from './disk-model.ts'

/** A recorded file operation, or a mark of the client. Paths are below the data folder. */
export type Recorded =
  | { readonly kind: 'created' | 'made-folder'; readonly path: string; readonly inode: bigint }
  | {
      readonly kind: 'wrote'
      readonly path: string
      readonly inode: bigint
      readonly offset: number
      readonly bytes: Buffer
      /** Durable by itself: the file is open with O_SYNC or O_DSYNC. */
      readonly synced: boolean
    }
  | { readonly kind: 'truncated'; readonly path: string; readonly inode: bigint; readonly size: number }
  | {
      readonly kind: 'sync-began' | 'sync-ended' | 'sync-failed'
      readonly path: string
      readonly inode: bigint
      readonly number: string
    }
  | { readonly kind: 'renamed' | 'linked'; readonly path: string; readonly to: string }
  | { readonly kind: 'unlinked' | 'removed-folder'; readonly path: string }
  | { readonly kind: 'mark'; readonly text: string }

/** Long enough that requests of other writers come between a write and its sync. */
const SYNC_MS = 4

const MAGIC = 0x10ca2e11
const HEAD_BYTES = 56
const MARK = 100
const KINDS = [
  undefined,
  'created',
  'wrote',
  'sync-began',
  'sync-ended',
  'renamed',
  'linked',
  'unlinked',
  'truncated',
  'made-folder',
  'removed-folder',
  'sync-failed',
] as const

/** A file or folder that was there before the recording began. */
export interface Present {
  readonly path: string
  readonly inode: bigint
  /** Undefined for a folder. */
  readonly bytes: Buffer | undefined
}

/** The log of one data folder. Servers that run with `env` append their operations, the test its marks. */
export class Recording {
  readonly env: Record<string, string>
  readonly #file: string

  constructor({ folder, env }: FaultInjector) {
    this.#file = path.join(folder, 'operations.log')
    this.env = { ...env, IO_SHIM_LOG: this.#file, IO_SHIM_SYNC_MS: String(SYNC_MS) }
  }

  /** Notes a request that is about to be sent, or a response that has arrived. */
  mark(text: string): void {
    const bytes = Buffer.from(text)
    const head = Buffer.alloc(HEAD_BYTES)
    head.writeUInt32LE(MAGIC, 0)
    head.writeUInt32LE(MARK, 4)
    head.writeUInt32LE(bytes.length, 48)
    appendFileSync(this.#file, Buffer.concat([head, bytes]))
  }

  read(): Recorded[] {
    return parse(readFileSync(this.#file))
  }
}

function parse(log: Buffer): Recorded[] {
  const found: Recorded[] = []
  for (let at = 0; at < log.length; ) {
    if (log.readUInt32LE(at) !== MAGIC) throw new Error(`The log is damaged at byte ${at}.`)
    const pathAt = at + HEAD_BYTES
    const otherAt = pathAt + log.readUInt32LE(at + 40)
    const dataAt = otherAt + log.readUInt32LE(at + 44)
    const end = dataAt + log.readUInt32LE(at + 48)
    found.push(
      recordOf(log.subarray(at, pathAt), {
        path: log.toString('utf8', pathAt, otherAt),
        to: log.toString('utf8', otherAt, dataAt),
        bytes: log.subarray(dataAt, end),
      }),
    )
    at = end
  }
  return found
}

function recordOf(head: Buffer, parts: { path: string; to: string; bytes: Buffer }): Recorded {
  const type = head.readUInt32LE(4)
  if (type === MARK) return { kind: 'mark', text: String(parts.bytes) }
  const kind = KINDS[type]
  const inode = head.readBigUInt64LE(16)
  const offset = Number(head.readBigInt64LE(24))
  const size = Number(head.readBigUInt64LE(32))
  switch (kind) {
    case undefined:
      throw new Error(`The log has an unknown record ${type}.`)
    case 'wrote':
      return { kind, path: parts.path, inode, offset, bytes: parts.bytes, synced: size === 1 }
    case 'truncated':
      return { kind, path: parts.path, inode, size }
    case 'sync-began':
    case 'sync-ended':
    case 'sync-failed':
      return { kind, path: parts.path, inode, number: `${head.readUInt32LE(8)}/${offset}` }
    case 'renamed':
    case 'linked':
      return { kind, path: parts.path, to: parts.to }
    case 'unlinked':
    case 'removed-folder':
      return { kind, path: parts.path }
    default:
      return { kind, path: parts.path, inode }
  }
}

/** All files and folders below a folder, parents first. The folder itself has the path ''. */
export async function listPresent(folder: string): Promise<Present[]> {
  const found: Present[] = [{ path: '', inode: (await stat(folder, { bigint: true })).ino, bytes: undefined }]
  const names = (await readdir(folder, { recursive: true })).sort()
  for (const name of names) {
    const file = path.join(folder, name)
    const stats = await stat(file, { bigint: true })
    found.push({
      path: name,
      inode: stats.ino,
      bytes: stats.isDirectory() ? undefined : await readFile(file),
    })
  }
  return found
}

/** The replayed recording must be what is on the disk. Otherwise an operation escaped the recorder. */
export async function compareWithDisk(
  data: string,
  present: readonly Present[],
  records: readonly Recorded[],
): Promise<void> {
  const model = new DiskModel(present)
  for (const record of records) model.apply(record)
  const describe = (name: string, bytes: Buffer | undefined) =>
    `${name} ${bytes === undefined ? 'folder' : name.endsWith('-shm') ? 'memory' : hashOf(bytes)}`
  const replayed = Array.from(model.live(), (one) => describe(one.path, one.bytes)).sort()
  const actual = (await listPresent(data)).slice(1).map((one) => describe(one.path, one.bytes))
  assert.deepEqual(replayed, actual.sort(), 'the recording is complete')
}
