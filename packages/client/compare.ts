import { text } from 'node:stream/consumers'
import type { Carrel, Entry, State } from '../../sdk/src/index.ts'
import { ClientError } from './client-error.ts'
import { unifiedDiff } from './line-diff.ts'

/** A file in two states. */
interface TwoStates {
  readonly old: Entry | undefined
  readonly before: State
  readonly now: Entry | undefined
  readonly after: State
}

/** What is compared at most, because the time and memory of a comparison are quadratic in the worst case. */
interface DiffLimits {
  /** Of each file. */
  readonly bytes: number
  /** Of each file. */
  readonly lines?: number
}

/** The unified diff of a file in two states. Throws ClientError if it is not text, or too large. */
export async function fileDiff(
  carrel: Carrel,
  library: string,
  path: string,
  { old, before, now, after }: TwoStates,
  limits: DiffLimits,
): Promise<string[]> {
  if (old?.id === now?.id) return []
  if (Math.max(old?.size ?? 0, now?.size ?? 0) > limits.bytes) {
    throw new ClientError(`${path} is larger than ${limits.bytes} bytes.`)
  }
  const contentOf = async (entry: Entry | undefined, state: State) =>
    entry === undefined ? '' : text((await carrel.download(library, path, state)).body)
  const [first, second] = [await contentOf(old, before), await contentOf(now, after)]
  if (first.includes('\0') || second.includes('\0')) throw new ClientError(`${path} is not a text file.`)
  const { lines = Number.POSITIVE_INFINITY } = limits
  if (lineCount(first) > lines || lineCount(second) > lines) {
    throw new ClientError(`${path} has more than ${lines} lines.`)
  }
  return [`--- ${path}`, `+++ ${path}`, ...unifiedDiff(first, second)]
}

function lineCount(content: string): number {
  let count = 1
  for (let at = content.indexOf('\n'); at >= 0; at = content.indexOf('\n', at + 1)) count += 1
  return count
}

interface PathChange {
  readonly change: 'added' | 'deleted' | 'modified'
  readonly path: string
  readonly kind: 'file' | 'dir'
}

/** Paths that differ between two states. Folders with the same id are not read, so the cost follows the changes. */
export async function* changedPaths(
  carrel: Carrel,
  library: string,
  folder: string,
  before: State,
  after: State,
): AsyncGenerator<PathChange> {
  const [old, now] = [
    await entriesIn(carrel, library, folder, before),
    await entriesIn(carrel, library, folder, after),
  ]
  for (const name of [...new Set([...old.keys(), ...now.keys()])].sort()) {
    const [was, is] = [old.get(name), now.get(name)]
    if (was?.id === is?.id && was?.kind === is?.kind) continue
    if (was?.kind === 'dir' && is?.kind === 'dir') {
      yield* changedPaths(carrel, library, was.path, before, after)
      continue
    }
    if (was?.kind === 'file' && is?.kind === 'file') {
      yield { change: 'modified', path: is.path, kind: 'file' }
      continue
    }
    if (was !== undefined) yield { change: 'deleted', path: was.path, kind: was.kind }
    if (is !== undefined) yield { change: 'added', path: is.path, kind: is.kind }
  }
}

async function entriesIn(
  carrel: Carrel,
  library: string,
  folder: string,
  state: State,
): Promise<Map<string, Entry>> {
  const found = new Map<string, Entry>()
  const there = await carrel.find(library, folder, state)
  if (there?.kind !== 'dir') return found
  for await (const entry of carrel.list(library, folder, state)) found.set(entry.name, entry)
  return found
}
