import { createHash } from 'node:crypto'
import { createReadStream, lstatSync, openAsBlob, readFileSync, type Stats } from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { joinRemote } from './remote-path.ts'

/** A file that is read in parts, until it is disposed. */
export interface OpenFile extends AsyncDisposable {
  readonly content: Blob
  sha256(): Promise<Uint8Array>
}

/** A file and the folder of a library that it goes to. */
export interface SourceFile {
  readonly kind: 'file'
  /** Names it in messages. */
  readonly label: string
  readonly folder: string
  readonly name: string
  readonly size: number
  /** Undefined if the source does not know it. */
  readonly modifiedAt: Date | undefined
  /** All bytes, of a small file. */
  bytes(): Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>>
  open(): Promise<OpenFile>
}

/** A folder without content. */
interface EmptyFolder {
  readonly kind: 'empty-folder'
  /** Names it in messages. */
  readonly label: string
  readonly path: string
}

export type SourceItem = SourceFile | EmptyFolder

/** What becomes of items that cannot be copied. */
export interface SourceEvents {
  readonly signal: AbortSignal
  onSkipped(label: string, reason: string): void
  onFailed(label: string, error: unknown): void
}

/** The files at and below a local path, all files of a folder before its folders. Links and special files are not followed. */
export async function* localFiles(
  local: string,
  folder: string,
  name: string,
  events: SourceEvents,
): AsyncGenerator<SourceItem> {
  let stats: Stats
  try {
    stats = lstatSync(local)
  } catch (error) {
    events.onFailed(local, error)
    return
  }
  if (stats.isFile()) {
    yield localFile(local, folder, name, stats, events.signal)
    return
  }
  if (!stats.isDirectory()) {
    events.onSkipped(local, 'it is neither a file nor a folder')
    return
  }
  const children = await readdir(local, { withFileTypes: true }).catch((error: unknown) => {
    events.onFailed(local, error)
  })
  if (children === undefined) return
  const inside = joinRemote(folder, name)
  if (children.length === 0) yield { kind: 'empty-folder', label: local, path: inside }
  children.sort((a, b) => Number(a.isDirectory()) - Number(b.isDirectory()))
  for (const child of children) yield* localFiles(path.join(local, child.name), inside, child.name, events)
}

function localFile(
  local: string,
  folder: string,
  name: string,
  { size, mtime }: Stats,
  signal: AbortSignal,
): SourceFile {
  return {
    kind: 'file',
    label: local,
    folder,
    name,
    size,
    modifiedAt: mtime,
    // Synchronously: a small file is read faster than the thread pool takes to hand it over.
    bytes: () => readFileSync(local),
    open: async () => ({
      content: await openAsBlob(local),
      sha256: () => sha256Of(local, signal),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }),
  }
}

/** The SHA-256 of a local file. */
export async function sha256Of(file: string, signal: AbortSignal): Promise<Uint8Array> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash, { signal })
  return hash.digest()
}
