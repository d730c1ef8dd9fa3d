import { readFileSync } from 'node:fs'

/** The limit of open files and sockets of this process; undefined if it is unknown. */
export function descriptorLimit(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined
  }
}

/** Descriptors for blocks, databases, threads and requests in progress. */
const MIN_RESERVED = 64
const MAX_SHARE = 512

/** From this limit on, all folders of blocks stay open. */
const PLENTY = 1024
const BLOCK_FOLDERS = 256

/** The folders of blocks that stay open, so that flushing them needs no descriptor. */
export function foldersKeptOpen(limit: number | undefined): number {
  return limit === undefined || limit >= PLENTY ? BLOCK_FOLDERS : Math.floor(limit / 16)
}

/**
 * The connections that leave enough descriptors for files. At this limit a client gets 503. Once
 * descriptors run out, connections can only be closed, and requests fail.
 */
export function connectionsFor(limit: number | undefined): number {
  return limit === undefined ? Number.POSITIVE_INFINITY : Math.max(16, limit - reserved(limit))
}

/** Connections that get a 503 response at the same time; further ones are closed, so that files can still be opened. */
export function refusalsFor(limit: number | undefined): number {
  return limit === undefined ? MAX_REFUSALS : Math.min(MAX_REFUSALS, Math.floor(reserved(limit) / 4))
}

const MAX_REFUSALS = 256

// Up to 64 cached block files, about 50 descriptors of databases, threads and pipes, two for each upload in progress, and the folders.
function reserved(limit: number): number {
  const share = Math.max(Math.ceil(limit / 4), Math.min(MAX_SHARE, Math.ceil(limit * 0.45)))
  return Math.max(MIN_RESERVED, share + foldersKeptOpen(limit))
}
