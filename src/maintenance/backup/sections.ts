import { createHash } from 'node:crypto'
import { type LibraryState, listLibraryStates } from '../../libraries/consumers/index.ts'
import type { DatabaseSnapshot, Reader } from '../../platform/database/index.ts'
import { findManifest, type SnapshotManifest } from './manifest.ts'
import { parseOwnJson } from './own-json.ts'
import type { BackupRepository } from './repository.ts'
import { isSectioned } from './tables.ts'
import { BackupError } from './target.ts'

/** Rows of one table: how many, and the blobs that hold them. */
export interface TableRows {
  readonly rows: number
  readonly chunks: readonly string[]
}

/**
 * The content of a run of libraries in a snapshot: those up to the key `last`, from the section before. The next backup takes its rows over without reading
 * them if nothing has changed in these libraries.
 */
export interface Section {
  readonly last: number
  /** Hash of the states of the libraries. Null if the rows may change without any of them. */
  readonly state: string | null
  readonly tables: Readonly<Record<string, TableRows>>
  /** Of each library. */
  readonly blocks: { readonly count: number; readonly bytes: number }
}

/** A section to be written, and the rows of it that the target has. */
interface PlannedSection {
  /** The rows of libraries after this key. */
  readonly after: number
  readonly last: number
  readonly state: string | null
  readonly found: Section | undefined
}

/** Bounds what is read again after a change in one of many small libraries. A large one is a section of its own. */
const SECTION_WEIGHT = 2000
const PAGE = 500

/** The sections of the newest snapshot, if its rows and blocks can be relied on; otherwise none. */
export async function findSections(
  repository: BackupRepository,
  snapshot: DatabaseSnapshot,
): Promise<readonly Section[]> {
  if (!repository.isWhole) return []
  try {
    const newest = await findManifest(repository, 'latest')
    if (newest.sections === undefined || !isLike(newest, snapshot)) return []
    return parseOwnJson<Section[]>(await repository.read('rows', newest.sections))
  } catch (error) {
    // What cannot be read of an earlier snapshot is written again.
    if (!(error instanceof BackupError)) throw error
    return []
  }
}

/** Whether a snapshot has rows of the same form as the database, and misses nothing. */
function isLike(manifest: SnapshotManifest, { dialect, schemaVersion, tables }: DatabaseSnapshot): boolean {
  const { database, damaged, gaps = [], collected } = manifest
  if (database !== dialect || manifest.schemaVersion !== schemaVersion) return false
  if (damaged.length + gaps.length + collected.length > 0) return false
  const columnsOf = (all: typeof tables) =>
    JSON.stringify(all.filter(isSectioned).map(({ name, columns }) => [name, columns]))
  return columnsOf(manifest.tables) === columnsOf(tables)
}

/**
 * Divides all libraries of a snapshot into sections. Those of the snapshot before stay where nothing has changed, and the others are divided anew. `unsettled` are
 * libraries whose rows may change while their state stays.
 */
export async function* planSections(
  reader: Reader,
  known: readonly Section[],
  unsettled: ReadonlySet<number>,
): AsyncGenerator<PlannedSection, void> {
  const libraries = listAll(reader)
  let next = await libraries.next()
  let after = 0
  for (const section of known) {
    const run: LibraryState[] = []
    while (!next.done && next.value.key <= section.last) {
      run.push(next.value)
      next = await libraries.next()
    }
    // Purged libraries leave no rows.
    if (run.length === 0) continue
    const state = stateOf(run, unsettled)
    if (state !== null && state === section.state) {
      yield { after, last: section.last, state, found: section }
      after = section.last
    } else {
      for (const part of divide(run)) {
        const last = part.at(-1)?.key ?? after
        yield { after, last, state: stateOf(part, unsettled), found: undefined }
        after = last
      }
    }
  }
  // New libraries.
  while (!next.done) {
    const run: LibraryState[] = []
    for (let weight = 0; !next.done && weight < SECTION_WEIGHT; next = await libraries.next()) {
      run.push(next.value)
      weight += next.value.weight
    }
    const last = run.at(-1)?.key ?? after
    yield { after, last, state: stateOf(run, unsettled), found: undefined }
    after = last
  }
}

async function* listAll(reader: Reader): AsyncGenerator<LibraryState, void> {
  for (let after = 0; ; ) {
    const page = await listLibraryStates(reader, after, PAGE)
    yield* page
    const last = page.at(-1)
    if (last === undefined) return
    after = last.key
  }
}

function* divide(run: readonly LibraryState[]): Generator<readonly LibraryState[], void> {
  let part: LibraryState[] = []
  let weight = 0
  for (const library of run) {
    part.push(library)
    weight += library.weight
    if (weight < SECTION_WEIGHT) continue
    yield part
    part = []
    weight = 0
  }
  if (part.length > 0) yield part
}

function stateOf(run: readonly LibraryState[], unsettled: ReadonlySet<number>): string | null {
  const hash = createHash('sha256')
  for (const { key, state } of run) {
    if (unsettled.has(key)) return null
    hash.update(`${state}\n`)
  }
  return hash.digest('hex')
}
