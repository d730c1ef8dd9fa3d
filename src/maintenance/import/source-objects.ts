import { type DirId, type FileId, type FsId, InvalidObject } from '../../base/objects/index.ts'
import { unpackFile } from '../../base/packing/index.ts'
import { ThreadPool } from '../../base/thread-pool.ts'
import type { ObjectReply, ObjectRequest, ObjectState } from './object-reader.ts'
import { ImportError } from './problems.ts'
import type { SeafileLayout, SourceStore } from './seafile-layout.ts'
import {
  MAX_OBJECT_BYTES,
  parseDirJson,
  readDirV0,
  type SourceDir,
  type SourceFile,
} from './seafile-objects.ts'

const MAX_THREADS = 2
const FILES_PER_JOB = 50
// Dirs that are read ahead take up to 16 MiB. Longer ones are read when they are wanted.
const MAX_DIRS_AHEAD = 64
const MAX_BYTES_AHEAD = 256 * 1024

/** Threads that read fs objects, for all libraries of an import. */
export type ObjectThreads = ThreadPool<ObjectRequest, ObjectReply>

export function openObjectThreads(): ObjectThreads {
  return new ThreadPool(new URL('./object-worker.ts', import.meta.url), { threads: MAX_THREADS })
}

/** A file of the source with its bytes as the database stores them. */
export interface PackedFile extends SourceFile {
  readonly packed: Buffer
}

/** An object that is missing or damaged. `lost` is the end of a sentence. */
export interface LostObject {
  readonly lost: string
}

/** An object that was read, with its bytes. */
type Found =
  | Exclude<ObjectState, { how: 'read' | 'failed' }>
  | { readonly how: 'read'; readonly id: FsId; readonly bytes: Buffer; readonly stored: Buffer | undefined }

/** Reads the fs objects of a library of the source in threads. */
export class SourceObjects {
  readonly #threads: ObjectThreads
  readonly #folder: string
  readonly #version: number
  readonly #ahead = new Map<DirId, Promise<Found>>()

  constructor(threads: ObjectThreads, layout: SeafileLayout, store: SourceStore) {
    this.#threads = threads
    this.#folder = layout.objectFolder(store)
    this.#version = store.version
  }

  /** Starts to read dirs that will be wanted soon. Those beyond the limit are ignored. */
  readAhead(ids: Iterable<DirId>): void {
    for (const id of ids) {
      if (this.#ahead.size >= MAX_DIRS_AHEAD) return
      if (this.#ahead.has(id)) continue
      const reading = this.#readDir(id, MAX_BYTES_AHEAD)
      reading.catch(() => {}) // It rejects when the dir is wanted.
      this.#ahead.set(id, reading)
    }
  }

  /** Gives up a dir that was read ahead and is not wanted. */
  drop(id: DirId): void {
    this.#ahead.delete(id)
  }

  /** Throws InvalidObject. */
  async readDir(id: DirId): Promise<SourceDir> {
    const ahead = this.#ahead.get(id)
    this.#ahead.delete(id)
    let found = await (ahead ?? this.#readDir(id, MAX_OBJECT_BYTES))
    if (found.how === 'long') found = await this.#readDir(id, MAX_OBJECT_BYTES)
    if (found.how !== 'read') throw new InvalidObject(found.how === 'lost' ? found.why : 'is too long')
    return this.#version === 0 ? readDirV0(id, found.bytes) : parseDirJson(found.bytes)
  }

  /** By id, in the order of `ids`. */
  async readFiles(ids: readonly FileId[]): Promise<Map<FileId, PackedFile | LostObject>> {
    const jobs: Promise<readonly Found[]>[] = []
    for (let start = 0; start < ids.length; start += FILES_PER_JOB) {
      jobs.push(this.#read('files', ids.slice(start, start + FILES_PER_JOB), MAX_OBJECT_BYTES))
    }
    const found = (await Promise.all(jobs)).flat()
    const files = new Map<FileId, PackedFile | LostObject>()
    for (const [index, id] of ids.entries()) files.set(id, fileOf(found[index]))
    return files
  }

  async #readDir(id: DirId, maxBytes: number): Promise<Found> {
    const [found] = await this.#read('dirs', [id], maxBytes)
    if (found === undefined) throw new Error(`the dir ${id} was not looked at`)
    return found
  }

  async #read(kind: 'files' | 'dirs', ids: readonly FsId[], maxBytes: number): Promise<readonly Found[]> {
    const request = { kind, folder: this.#folder, version: this.#version, ids, maxBytes }
    const { states, bytes } = await this.#threads.run(request)
    const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    let at = 0
    const next = (length: number) => {
      at += length
      return all.subarray(at - length, at)
    }
    return states.map((state): Found => {
      if (state.how === 'failed') throw unreadable(state.message)
      if (state.how !== 'read') return state
      const { how, id, length, storedLength } = state
      return { how, id, bytes: next(length), stored: storedLength === 0 ? undefined : next(storedLength) }
    })
  }
}

function fileOf(found: Found | undefined): PackedFile | LostObject {
  if (found === undefined) throw new Error('a file was not looked at')
  if (found.how === 'long') return { lost: 'is too long' }
  if (found.how === 'lost') return { lost: found.why }
  return { id: found.id, file: unpackFile(found.bytes), packed: found.bytes, asReceived: found.stored }
}

function unreadable(message: string): ImportError {
  return new ImportError(
    `An object of the source cannot be read (${message}): let this account read all files of its data folder.`,
  )
}
