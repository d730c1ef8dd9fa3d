import type { BlockId, CommitId, DirId } from '../../base/objects/index.ts'
import type { DutyCycle } from '../../base/scheduling/index.ts'
import { commitRows } from '../../libraries/commits/index.ts'
import { positionRows } from '../../libraries/consumers/index.ts'
import {
  archiveBlockRows,
  type BlockCheck,
  type StagedBlock,
  stagedBlockRows,
} from '../../libraries/content/index.ts'
import { findIndexFaults, type HistorySource, keepDays, oldestShown } from '../../libraries/history/index.ts'
import type { LibraryInfo, PathBinding } from '../../libraries/registry/index.ts'
import { libraryRows } from '../../libraries/registry/index.ts'
import type { ObjectStore, TreeChanges } from '../../libraries/tree/index.ts'
import { count, findLibraryUsage } from '../../libraries/usage/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { findBindingFaults } from './binding-faults-store.ts'
import type { Finding, FindingKind } from './finding.ts'
import { Locator, type Place } from './locate.ts'
import type { TreeProgress } from './progress-store.ts'
import { type ObjectFault, TreeCheck } from './tree-check.ts'

const COMMITS_PER_STEP = 250

/** What a check of libraries reads. */
export interface CheckSources extends HistorySource {
  readonly db: Database
  readonly objects: ObjectStore
  readonly changes: TreeChanges
  readonly blocks: BlockCheck
  /** What the search index of a library has wrong. */
  readonly searchFaults: (
    library: LibraryInfo,
  ) => AsyncIterable<{ readonly path: string; readonly reason: string }>
  /** What the index of photos of a library has wrong. */
  readonly photoFaults: (
    library: LibraryInfo,
  ) => AsyncIterable<{ readonly path: string; readonly reason: string }>
  /** What the comments and tags of a library have wrong. */
  readonly annotationFaults: (library: LibraryInfo) => Promise<readonly string[]>
  /** The unfinished uploads into a library. */
  readonly uploadsOf: (
    library: LibraryInfo,
  ) => Promise<readonly { readonly key: number; readonly path: string; readonly received: number }[]>
  /** The finished archives of a library whose bytes are blocks. */
  readonly archivesOf: (
    library: LibraryInfo,
  ) => Promise<readonly { readonly key: number; readonly name: string; readonly size: number }[]>
  /** The tables with rows that are bound to paths. */
  readonly pathBindings: readonly PathBinding[]
}

export interface LibraryCheckOptions {
  readonly readData: boolean
  /** Whether the bytes of a block are read, with `readData`. */
  readonly reads: (id: BlockId) => boolean
  readonly dutyCycle: DutyCycle
  /** Called with the bytes that were read, to limit them. */
  readonly onRead: (bytes: number) => Promise<void>
  /** Interval between saves of the progress: an interruption loses at most that much work, and one folder with its files. */
  readonly saveEveryMs: number
  /** The saved progress of an interrupted check, and where to save that of this one. */
  readonly progress?: {
    readonly before: readonly TreeProgress[]
    readonly save: (progress: TreeProgress) => Promise<void>
  }
}

/** The result for one library, and the state it was checked in. */
export interface CheckedLibrary {
  readonly findings: readonly Finding[]
  readonly head: CommitId
  readonly oldestSeq: number
  readonly objects: number
}

/** Checks one library as it is now. Undefined if it does not exist, or is being purged. */
export async function checkLibrary(
  sources: CheckSources,
  libraryKey: number,
  options: LibraryCheckOptions,
): Promise<CheckedLibrary | undefined> {
  const library = await libraryRows.findWithDeleted(sources.db, libraryKey)
  // Without commits it is being restored or imported. A continued pass would take it for checked, because its row names the head that it will have.
  if (library === undefined || library.headSeq === 0) return undefined
  const oldestSeq = await oldestShown(sources, library)
  return new LibraryCheck(sources, library, oldestSeq, options).run()
}

class LibraryCheck {
  readonly #sources: CheckSources
  readonly #library: LibraryInfo
  readonly #oldestSeq: number
  readonly #options: LibraryCheckOptions
  readonly #findings: Finding[] = []

  constructor(sources: CheckSources, library: LibraryInfo, oldestSeq: number, options: LibraryCheckOptions) {
    this.#sources = sources
    this.#library = library
    this.#oldestSeq = oldestSeq
    this.#options = options
  }

  async run(): Promise<CheckedLibrary> {
    const { head } = this.#library
    const tree = await this.#checkTrees()
    await this.#checkPositions()
    await this.#checkUploads()
    await this.#checkArchives()
    // Values derived from lost objects cannot be computed again for a comparison.
    const isWhole = ![...tree.faults.values()].flat().some(({ what }) => what === 'object')
    if (isWhole && !this.#findings.some(({ kind }) => kind === 'commit-missing')) await this.#checkIndexes()
    return { findings: this.#findings, head, oldestSeq: this.#oldestSeq, objects: tree.objects }
  }

  async #checkTrees(): Promise<TreeCheck> {
    const { db, blocks } = this.#sources
    const { key, root, encryption, size, fileCount } = this.#library
    const tree = new TreeCheck({
      reader: db,
      libraryKey: key,
      isEncrypted: encryption !== undefined,
      blocks,
      ...this.#options,
      save: this.#options.progress?.save,
    })
    tree.resume(this.#options.progress?.before ?? [])
    const totals = await tree.current(root)
    if (totals !== undefined && (totals.size !== size || totals.fileCount !== fileCount)) {
      const detail = `its row says ${size} bytes in ${fileCount} files, the root has ${totals.size} in ${totals.fileCount}`
      this.#add('library-size', { detail, actual: totals })
    }
    await this.#eachCommit('up', (commit) => tree.older(commit.root))
    await tree.finish()
    await this.#locate(tree.faults)
    return tree
  }

  /** Kept commits, with those that merges brought in. Reports missing ones on the way up. */
  async #eachCommit(
    direction: 'up' | 'down',
    visit: (commit: { id: CommitId; root: DirId; seq: number }) => Promise<void>,
  ): Promise<void> {
    const { db } = this.#sources
    const library = this.#library
    const { headSeq } = library
    const steps: [from: number, to: number][] = []
    for (let from = this.#oldestSeq; from <= headSeq; from += COMMITS_PER_STEP) {
      steps.push([from, Math.min(from + COMMITS_PER_STEP - 1, headSeq)])
    }
    if (direction === 'down') steps.reverse()
    for (const [from, to] of steps) {
      const commits = await commitRows.listDown(db, library, to, from)
      const merged = await commitRows.listMerged(db, library, to, from)
      const bySeq = new Map(commits.map((commit) => [commit.seq, commit]))
      const seqs = Array.from({ length: to - from + 1 }, (_, index) => from + index)
      if (direction === 'down') seqs.reverse()
      for (const seq of seqs) {
        const commit = bySeq.get(seq)
        if (direction === 'up') this.#checkCommit(seq, commit)
        const all = [...(commit === undefined ? [] : [commit]), ...(merged.get(seq) ?? [])]
        for (const { id, rootId } of all) await visit({ id, root: rootId, seq })
      }
    }
  }

  #checkCommit(seq: number, commit: { id: CommitId; rootId: DirId } | undefined): void {
    const { headSeq, head, root } = this.#library
    if (commit === undefined) {
      // The number stands for the id, which is unknown.
      this.#add('commit-missing', { object: `#${seq}`, detail: `commit ${seq} of ${headSeq} has no row` })
    } else if (seq === headSeq && (commit.id !== head || commit.rootId !== root)) {
      const detail = `the head is ${head} with the root ${root}, commit ${seq} is ${commit.id} with ${commit.rootId}`
      this.#add('head-wrong', { object: commit.id, detail })
    }
  }

  /** Reports the faults of objects with every path at which they are. */
  async #locate(faults: ReadonlyMap<string, readonly ObjectFault[]>): Promise<void> {
    if (faults.size === 0) return
    const { db } = this.#sources
    const { key, head } = this.#library
    const locator = new Locator(db, key, new Set(faults.keys()), this.#options.dutyCycle)
    await this.#eachCommit('down', ({ id, root }) => locator.visit(root, id, id === head))
    for (const [object, found] of faults) {
      const places: Partial<Place>[] = [...(locator.places.get(object)?.values() ?? [{}])]
      for (const fault of found) {
        for (const place of places) this.#addFault(object, fault, place)
      }
    }
  }

  #addFault(object: string, fault: ObjectFault, place: Partial<Place>): void {
    if (fault.what === 'object') {
      this.#add(`object-${fault.problem}`, { ...place, object, detail: fault.reason })
    } else if (fault.what === 'block') {
      this.#add(`block-${fault.problem}`, { ...place, object, block: fault.block, detail: fault.reason })
    } else {
      const texts = (['size', 'fileCount', 'dirCount'] as const)
        .filter((name) => fault.stored[name] !== undefined && fault.stored[name] !== fault.actual[name])
        .map((name) => `${name} is ${fault.stored[name]}, should be ${fault.actual[name]}`)
      this.#add('folder-totals', { ...place, object, detail: texts.join('; '), actual: fault.actual })
    }
  }

  async #checkPositions(): Promise<void> {
    const { db } = this.#sources
    const { key, headSeq } = this.#library
    const ahead = (await positionRows.list(db, key)).filter(({ seq }) => seq > headSeq)
    if (ahead.length === 0) return
    // Consumers go on with commits that were made since the check began.
    const newest = (await libraryRows.findWithDeleted(db, key))?.headSeq ?? Number.POSITIVE_INFINITY
    for (const { name, seq } of ahead) {
      if (seq <= newest) continue
      this.#add('consumer-ahead', { object: name, detail: `${name} is at commit ${seq} of ${newest}` })
    }
  }

  /** The blocks of unfinished uploads, which are in no tree. */
  async #checkUploads(): Promise<void> {
    const { db, uploadsOf } = this.#sources
    for (const { key, path, received } of await uploadsOf(this.#library)) {
      await this.#checkStaged(await stagedBlockRows.listBefore(db, key, received), (block, problem) => {
        const detail = `a block of this unfinished upload is ${problem}, so that it has to start over`
        this.#add('upload-lost', { path, object: String(key), block, detail })
      })
    }
  }

  /** The blocks of finished archives, which are in no tree either. */
  async #checkArchives(): Promise<void> {
    const { db, archivesOf } = this.#sources
    for (const { key, name, size } of await archivesOf(this.#library)) {
      const blocks = await archiveBlockRows.list(db, key, { start: 0, end: size })
      await this.#checkStaged(blocks, (block, problem) => {
        const detail = `a block of the archive ${name} is ${problem}, so that it has to be packed again`
        this.#add('archive-lost', { object: String(key), block, detail })
      })
    }
  }

  async #checkStaged(
    staged: readonly StagedBlock[],
    onFault: (block: BlockId, problem: string) => void,
  ): Promise<void> {
    const { blocks } = this.#sources
    const { readData, reads, dutyCycle, onRead } = this.#options
    for (const block of staged) {
      const isRead = readData && reads(block.id)
      const fault = (await blocks.faultsOfStaged([block], { readData: isRead })).get(block.id)
      if (fault !== undefined) onFault(block.id, fault.problem)
      if (isRead) await onRead(block.size)
      await dutyCycle.restIfDue()
    }
  }

  async #checkIndexes(): Promise<void> {
    const { dutyCycle } = this.#options
    const rest = () => dutyCycle.restIfDue()
    for await (const fault of findIndexFaults(this.#sources, this.#library, this.#oldestSeq, rest)) {
      this.#add(fault.index === 'trash' ? 'trash' : 'path-index', { path: fault.path, detail: fault.reason })
    }
    // Deleted libraries are not searched.
    if (this.#library.deletedAt === null) {
      for await (const { path, reason } of this.#sources.searchFaults(this.#library)) {
        this.#add('search-index', { path, detail: reason })
        await rest()
      }
      for await (const { path, reason } of this.#sources.photoFaults(this.#library)) {
        this.#add('photo-index', { path, detail: reason })
        await rest()
      }
    }
    await this.#checkBindings()
    // Usage is computed from the data checked above, so damage there would only be reported twice.
    if (this.#findings.length === 0) await this.#checkUsage()
  }

  async #checkBindings(): Promise<void> {
    const { pathBindings, annotationFaults } = this.#sources
    for await (const { path, rows, fault } of findBindingFaults(this.#sources, this.#library, pathBindings)) {
      const detail =
        fault === 'key' ? `${rows} cannot be found by this path` : `${rows} of an item that is not there`
      this.#add('path-binding', { path, object: `${rows}:${fault}`, detail })
    }
    for (const detail of await annotationFaults(this.#library))
      this.#add('annotations', { detail, object: detail })
  }

  async #checkUsage(): Promise<void> {
    const { db } = this.#sources
    const { key, id, root, head, headSeq } = this.#library
    const stored = await findLibraryUsage(db, key)
    if (stored?.head !== head || stored.oldestSeq !== this.#oldestSeq) return
    const keepsTrash = keepDays(this.#sources, this.#library) !== 0
    const options = { library: { key, id, root, headSeq }, oldestSeq: this.#oldestSeq, keepsTrash }
    const actual = await count(db, options, this.#options.dutyCycle)
    // What is unreferenced or shared changes without a commit.
    for (const part of ['current', 'trash', 'history'] as const) {
      if (stored[part] === actual[part]) continue
      const detail = `${part} is ${stored[part]} bytes, should be ${actual[part]}`
      this.#add('usage', { object: part, detail })
    }
  }

  #add(kind: FindingKind, about: Partial<Finding> & { detail: string }): void {
    const { id, name } = this.#library
    const { path = null, object = null, block = null, actual = null, detail } = about
    const { versions = 0, current = false, newestCommit = null, oldestCommit = null } = about
    this.#findings.push({
      kind,
      library: id,
      libraryName: name,
      path,
      object,
      block,
      versions,
      current,
      newestCommit,
      oldestCommit,
      detail,
      actual,
    })
  }
}
