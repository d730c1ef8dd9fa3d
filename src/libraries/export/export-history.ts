import {
  type CommitId,
  type DirId,
  EMPTY_ID,
  type FileDirent,
  type FileId,
} from '../../base/objects/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { commitRows, type NumberedCommit } from '../commits/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import type { ExportReport } from './export-report.ts'
import { type ExportSource, findDir, lossIn } from './export-source.ts'
import { FastImport, quotedPath } from './fast-import.ts'
import { gitMode, treeDelta } from './tree-delta.ts'

const COMMITS_PER_READ = 200
const MAIN = 'refs/heads/main'
/** Commits that a merge brought in. The merge refers to them, so this ref is deleted at the end. */
export const SIDE = 'refs/carrel/side'
const PADDING = Buffer.alloc(64 * 1024)

/** Which commits are exported, and where to. */
interface HistoryExport {
  readonly db: Database
  readonly source: ExportSource
  readonly library: LibraryInfo
  /** Numbers of the first and the last commit. */
  readonly from: number
  readonly to: number
  readonly gitDir: string
  readonly report: ExportReport
}

/** Git has no place for an entry of this name. */
export function notInGit(name: string): string | undefined {
  return /^\.git$/i.test(name) ? 'git uses this name itself' : undefined
}

/** Writes the history of a library into an empty git repository, one commit for each commit. Throws ExportError. */
export async function exportHistory(options: HistoryExport): Promise<void> {
  const git = new FastImport(options.gitDir)
  try {
    await new HistoryWriter(git, options).write()
    await git.finish()
  } catch (error) {
    await git.abort()
    throw error
  }
}

/** A commit in the repository. */
interface Written {
  readonly mark: number
  readonly root: DirId
}

class HistoryWriter {
  readonly #git: FastImport
  readonly #options: HistoryExport
  readonly #commits = new Map<CommitId, Written>()
  /** Marks of the contents that the repository has. Some 100 bytes for each revision of a file. */
  readonly #blobs = new Map<FileId, number>()
  readonly #lost = new Map<FileId, string>()
  #lastMark = 0

  constructor(git: FastImport, options: HistoryExport) {
    this.#git = git
    this.#options = options
  }

  async write(): Promise<void> {
    const { db, library, from, to } = this.#options
    let before: Written | undefined
    for (let start = from; start <= to; start += COMMITS_PER_READ) {
      const end = Math.min(to, start + COMMITS_PER_READ - 1)
      const commits = (await commitRows.listDown(db, library, end, start)).toReversed()
      const merged = await commitRows.listMerged(db, library, end, start)
      for (const commit of commits) {
        for (const side of parentsFirst(merged.get(commit.seq) ?? [])) await this.#writeSide(side)
        const others = this.#parentsOf(commit).filter(({ mark }) => mark !== before?.mark)
        before = (await this.#writeCommit(commit, MAIN, before, others)) ?? before
      }
    }
  }

  /** A commit that a merge brought in. */
  async #writeSide(commit: NumberedCommit): Promise<void> {
    const [parent, ...others] = this.#parentsOf(commit)
    // Without a parent, a commit would be based on the previous one of its ref.
    if (parent === undefined) await this.#git.write(`reset ${SIDE}\n\n`)
    await this.#writeCommit(commit, SIDE, parent, others)
  }

  #parentsOf({ parentId, secondParentId }: NumberedCommit): Written[] {
    return [parentId, secondParentId].flatMap((id) => (id === null ? [] : (this.#commits.get(id) ?? [])))
  }

  async #writeCommit(
    commit: NumberedCommit,
    ref: string,
    parent: Written | undefined,
    others: readonly Written[],
  ): Promise<Written | undefined> {
    const { source, report } = this.#options
    if ((await findDir(source, commit.rootId)) === undefined) {
      report.skip(`commit ${commit.id}`, 'the server has lost its folder')
      return undefined
    }
    const root = parent?.root ?? EMPTY_ID
    // Twice, so that the number of files of a commit does not count in memory: contents come before the commit that names them.
    for await (const { path, entry } of this.#delta(root, commit.rootId)) {
      if (entry !== undefined) await this.#writeBlob(entry, path)
    }
    const mark = ++this.#lastMark
    const who = person(commit.creatorName)
    // Git has no times before 1970.
    const when = `${Math.max(0, commit.ctime)} +0000`
    const message = Buffer.from(`${commit.description}\n\nCarrel-Commit: ${commit.id}\n`)
    await this.#git.write(
      `commit ${ref}\nmark :${mark}\nauthor ${who} ${when}\ncommitter ${who} ${when}\ndata ${message.length}\n`,
    )
    await this.#git.write(message)
    const parents = [
      ...(parent === undefined ? [] : [`from :${parent.mark}\n`]),
      ...others.map((other) => `merge :${other.mark}\n`),
    ]
    if (parents.length > 0) await this.#git.write(parents.join(''))
    for await (const { path, entry } of this.#delta(root, commit.rootId)) await this.#writeChange(path, entry)
    await this.#git.write('\n')
    report.commits += 1
    const written = { mark, root: commit.rootId }
    this.#commits.set(commit.id, written)
    return written
  }

  #delta(before: DirId, after: DirId) {
    const { source, report } = this.#options
    return treeDelta(source, before, after, {
      leftOut: notInGit,
      onSkipped: (path, reason) => report.skip(path, reason),
    })
  }

  async #writeChange(path: string, entry: FileDirent | undefined): Promise<void> {
    const mark = entry && this.#blobs.get(entry.id)
    // A revision that is lost must not look like the one before it.
    if (entry !== undefined && mark !== undefined) {
      await this.#git.write(`M ${gitMode(entry)} :${mark} ${quotedPath(path)}\n`)
    } else await this.#git.write(path === '' ? 'deleteall\n' : `D ${quotedPath(path)}\n`)
  }

  /** Writes the content of a file, once. */
  async #writeBlob({ id }: FileDirent, path: string): Promise<void> {
    const { source, report } = this.#options
    if (this.#blobs.has(id)) return
    const known = this.#lost.get(id)
    if (known !== undefined) return report.skip(`/${path}`, known)
    const { objects, content, libraryKey, key } = source
    // Bytes that git still expects of the blob; undefined before it has begun.
    let left: number | undefined
    try {
      const file = await objects.getFile(libraryKey, id)
      const mark = ++this.#lastMark
      left = file.size
      await this.#git.write(`blob\nmark :${mark}\ndata ${file.size}\n`)
      for await (const chunk of content.read(libraryKey, file, undefined, key)) {
        await this.#git.write(chunk)
        left -= chunk.length
      }
      await this.#git.write('\n')
      this.#blobs.set(id, mark)
    } catch (error) {
      const reason = lossIn(error)
      if (reason === undefined) throw error
      this.#lost.set(id, reason)
      report.skip(`/${path}`, reason)
      if (left !== undefined) await this.#fillUp(left)
    }
  }

  /** Completes a blob that cannot be read to its end. Git cannot cancel it, and no commit refers to it. */
  async #fillUp(bytes: number): Promise<void> {
    for (let left = bytes; left > 0; left -= PADDING.length) await this.#git.write(PADDING.subarray(0, left))
    await this.#git.write('\n')
  }
}

/** Commits in an order in which each follows those of its parents that are among them. */
function parentsFirst(commits: readonly NumberedCommit[]): NumberedCommit[] {
  const left = new Map(commits.map((commit) => [commit.id, commit]))
  // Clients choose parents, so there may be cycles.
  const opened = new Set<CommitId>()
  const sorted: NumberedCommit[] = []
  for (const commit of commits.toReversed()) {
    const open = [commit]
    for (let next = open.at(-1); next !== undefined; next = open.at(-1)) {
      opened.add(next.id)
      const waiting = [next.parentId, next.secondParentId].flatMap((id) =>
        id === null || opened.has(id) ? [] : (left.get(id) ?? []),
      )
      if (waiting.length > 0) {
        open.push(...waiting)
        continue
      }
      open.pop()
      if (left.delete(next.id)) sorted.push(next)
    }
  }
  return sorted
}

/** The author in the form of git. Accounts are e-mail addresses; a client may have sent any text. */
function person(creatorName: string | undefined): string {
  const text = (creatorName ?? '').replace(/[<>\p{Cc}]/gu, ' ').trim() || 'unknown'
  return `${text} <${text}>`
}
