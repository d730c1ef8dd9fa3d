import type { Upload } from './queue.ts'

/** What uploads need to know of an entry of a folder. */
export interface Listed {
  readonly type: 'file' | 'dir'
  readonly name: string
  /** Unix seconds. */
  readonly mtime: number
  readonly size?: number
  readonly modifier_email?: string
}

/** What uploads need of the time. Milliseconds. */
export interface Clock {
  now(): number
  /** Calls `act` after some time, unless the returned function is called before. */
  after(ms: number, act: () => void): () => void
}

export function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve))
}

/** Bytes `start` up to but not including `end` of a file. */
export interface Chunk {
  readonly start: number
  readonly end: number
}

export interface PostOptions {
  readonly signal: AbortSignal
  /** Bytes of the files sent so far. */
  readonly onProgress: (sent: number) => void
  /** Called when all bytes were sent. */
  readonly onSent: () => void
}

/**
 * What uploads need of the server. Calls reject with an error whose `status` is that of the response, or 0 if there was none: then the server may
 * have done what it was asked for.
 */
export interface Network {
  /** The entries of a folder; undefined if there is none. */
  list(libraryId: string, path: string): Promise<readonly Listed[] | undefined>
  /** All entries below a folder. */
  listBelow(libraryId: string, path: string): Promise<readonly (Listed & { readonly parent_dir: string })[]>
  /** How many bytes of an unfinished file the server has. */
  storedBytes(libraryId: string, folder: string, name: string): Promise<number>
  /** Stores files of one folder, all or none. Resolves to their names, as far as the server says them. */
  postFiles(
    uploads: readonly Upload[],
    files: readonly Blob[],
    options: PostOptions,
  ): Promise<readonly (string | undefined)[]>
  /** Stores a part of a file. The last one stores the file, and resolves to its name. */
  postChunk(upload: Upload, bytes: Blob, chunk: Chunk, options: PostOptions): Promise<string | undefined>
  /** Creates folders. Resolves to the messages about those that could not be created. */
  makeFolders(libraryId: string, paths: readonly string[]): Promise<readonly string[]>
  /** Gets ready for uploads to a folder. */
  prefetch(libraryId: string, folder: string): void
  /** What was got ready was refused. */
  renew(libraryId: string, folder: string): void
  isReachable(): Promise<boolean>
  readonly isOnline: boolean
  /** Calls a listener when the machine gets online or offline. */
  onOnline(listener: (isOnline: boolean) => void): void
}
