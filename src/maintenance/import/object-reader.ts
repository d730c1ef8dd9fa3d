import { closeSync, openSync, readSync } from 'node:fs'
import { type FsId, InvalidObject } from '../../base/objects/index.ts'
import { packFile } from '../../base/packing/index.ts'
import { isAbsent, objectFile } from './seafile-layout.ts'
import { inflateObject, MAX_OBJECT_BYTES, readFile, readFileV0 } from './seafile-objects.ts'

/** Fs objects of the source to be read. */
export interface ObjectRequest {
  readonly kind: 'files' | 'dirs'
  /** Where the objects are. */
  readonly folder: string
  /** 0 or 1. */
  readonly version: number
  readonly ids: readonly FsId[]
  /** The bytes of longer objects are left out. */
  readonly maxBytes: number
}

/** What became of an object. Not an Error, because it passes between threads. */
export type ObjectState =
  /**
   * Its bytes are the next `length` ones of the reply: a packed file, or a dir. Those of a dir of version 0 are not verified yet. `id` is the one
   * that it has here. After them come `storedLength` bytes of a file that is stored as it was received.
   */
  | { readonly how: 'read'; readonly id: FsId; readonly length: number; readonly storedLength: number }
  | { readonly how: 'long' }
  /** Missing or damaged; `why` is the end of a sentence. */
  | { readonly how: 'lost'; readonly why: string }
  /** A fault of the system. */
  | { readonly how: 'failed'; readonly message: string }

/** One state for each id, in order, and the bytes of those that were read. */
export interface ObjectReply {
  readonly states: readonly ObjectState[]
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** The bytes of an object in the form of ObjectState. */
interface Content {
  readonly id: FsId
  readonly bytes: Buffer
  readonly stored: Buffer | undefined
}

/**
 * Reads, inflates, verifies and parses fs objects, one after the other. All calls are synchronous, so that the three short calls for each object do not
 * pass through the thread pool. It runs in a thread.
 */
export class ObjectReader {
  readonly #file = new FileBuffer()

  read({ kind, folder, version, ids, maxBytes }: ObjectRequest): ObjectReply {
    const states: ObjectState[] = []
    const parts: Buffer[] = []
    for (const id of ids) {
      try {
        const stored = this.#file.read(objectFile(folder, id))
        const content =
          kind === 'files' ? contentOfFile(id, stored, version) : contentOfDir(id, stored, version)
        const length = content.bytes.length
        if (length > maxBytes) {
          states.push({ how: 'long' })
          continue
        }
        states.push({ how: 'read', id: content.id, length, storedLength: content.stored?.length ?? 0 })
        parts.push(content.bytes)
        if (content.stored !== undefined) parts.push(content.stored)
      } catch (error) {
        states.push(stateOf(error))
      }
    }
    return { states, bytes: joined(parts) }
  }
}

// Stored bytes are copied, because the next object is read into the same memory.

function contentOfFile(id: FsId, stored: Buffer, version: number): Content {
  const { id: ownId, file, asReceived } = version === 0 ? readFileV0(id, stored) : readFile(id, stored)
  return { id: ownId, bytes: packFile(file), stored: asReceived && Buffer.from(asReceived) }
}

function contentOfDir(id: FsId, stored: Buffer, version: number): Content {
  return { id, bytes: version === 0 ? Buffer.from(stored) : inflateObject(id, stored), stored: undefined }
}

function stateOf(error: unknown): ObjectState {
  if (isAbsent(error)) return { how: 'lost', why: 'is missing' }
  const message = error instanceof Error ? error.message : String(error)
  const isUnreadable = error instanceof Error && 'code' in error && error.code === 'EIO'
  return error instanceof InvalidObject || isUnreadable
    ? { how: 'lost', why: message }
    : { how: 'failed', message }
}

/** In memory of its own, so that it can be transferred to another thread. */
function joined(parts: readonly Buffer[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** Almost all objects are shorter. */
const BUFFER_BYTES = 64 * 1024

/** Reads whole files into memory that is reused. */
class FileBuffer {
  readonly #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)

  /** The bytes are valid until the next call. Throws InvalidObject if there are more than an object may have. */
  read(file: string): Buffer {
    const fd = openSync(file, 'r')
    try {
      let buffer = this.#buffer
      let length = 0
      for (;;) {
        const count = readSync(fd, buffer, length, buffer.length - length, null)
        if (count === 0) return buffer.subarray(0, length)
        length += count
        if (length < buffer.length) continue
        if (length > MAX_OBJECT_BYTES) throw new InvalidObject('is too long')
        // Not kept, so that one large dir does not take memory until the end.
        const larger = Buffer.allocUnsafeSlow(4 * buffer.length)
        buffer.copy(larger, 0, 0, length)
        buffer = larger
      }
    } finally {
      closeSync(fd)
    }
  }
}
