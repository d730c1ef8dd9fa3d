import {
  type Dir,
  type DirDirent,
  type Dirent,
  type DirId,
  EMPTY_ID,
  type FileDirent,
} from '../../base/objects/index.ts'
import {
  compareNames,
  conflictName,
  freeName,
  freeWholeName,
  joinPath,
  type LibraryPath,
  ROOT,
} from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import { changeBatches } from './dir-changes.ts'
import type { WorkingTree } from './working-tree.ts'

/** The three trees of a merge. */
interface MergeSides {
  /** The tree of the common ancestor. */
  readonly base: DirId
  /** The tree of the head. */
  readonly head: DirId
  /** The tree of the client. */
  readonly remote: DirId
  /** The account of the client's commit, named in the conflict names of folders. */
  readonly author: string
}

/** An entry of the client that was stored under a conflict name. */
interface Conflict {
  readonly kind: 'file' | 'dir'
  readonly path: LibraryPath
  readonly name: string
}

interface Level {
  readonly path: LibraryPath
  readonly base: DirId
  readonly head: DirId
  readonly remote: DirId
}

/** The entries of one name on the three sides. */
interface Sides {
  readonly base: Dirent | undefined
  readonly head: Dirent | undefined
  readonly remote: Dirent | undefined
}

/**
 * Three-way merge of the client's changes since the base into `tree`, the tree of the head. Entries are compared by id only. A
 * change wins over a deletion. Of a file changed on both sides both versions are kept. Folders are merged entry by entry. Where base
 * and remote are equal the head's entry stays, so only their differences are visited.
 */
export async function mergeInto(tree: WorkingTree, sides: MergeSides): Promise<Conflict[]> {
  const merge = new Merge(tree, sides.author)
  await merge.run({ path: ROOT, base: sides.base, head: sides.head, remote: sides.remote })
  return merge.conflicts.sort((a, b) => compareNames(a.path, b.path))
}

class Merge {
  readonly conflicts: Conflict[] = []
  readonly #tree: WorkingTree
  readonly #author: string
  readonly #open: Level[] = []
  readonly #slicer = new TimeSlicer()

  constructor(tree: WorkingTree, author: string) {
    this.#tree = tree
    this.#author = author
  }

  async run(root: Level): Promise<void> {
    this.#open.push(root)
    for (let level = this.#open.pop(); level !== undefined; level = this.#open.pop()) await this.#level(level)
  }

  async #level({ path, base, head, remote }: Level): Promise<void> {
    const dirs = {
      base: (await this.#tree.dirById(base)).dir,
      head: (await this.#tree.dirById(head)).dir,
      remote: (await this.#tree.dirById(remote)).dir,
    }
    const names = new Names(dirs)
    for (const batch of changeBatches(dirs.base, dirs.remote)) {
      for (const { name, before, after } of batch) {
        if (before !== undefined && before.kind === after?.kind && before.id === after.id) continue
        await this.#entry(path, { base: before, head: dirs.head.find(name), remote: after }, names)
      }
      if (this.#slicer.isDue) await this.#slicer.rest()
    }
  }

  /** Decides for files and dirs separately, because a name can be a file on one side and a dir on the other. */
  async #entry(path: LibraryPath, sides: Sides, names: Names): Promise<void> {
    const fileStep = mergeFile(sides)
    const dirStep = mergeDir(sides)
    const head = sides.head
    const keeps = head?.kind === 'file' ? fileStep.keepHead : dirStep.keepHead
    const remote = sides.remote
    const placed = remote?.kind === 'file' ? fileStep.takeRemote : dirStep.takeRemote
    const isConflict = fileStep.conflict === remote?.kind && placed
    if (isConflict && remote !== undefined) await this.#putConflict(path, remote, sides, names)
    else if (placed && remote !== undefined) await this.#place(path, remote, sides, remote.name)
    if (!keeps && head !== undefined && (!placed || isConflict)) {
      await this.#tree.take(joinPath(path, head.name), { touch: false })
    }
    if (dirStep.descend && head?.kind === 'dir') {
      this.#descend(joinPath(path, head.name), sides)
    }
  }

  async #putConflict(path: LibraryPath, remote: Dirent, sides: Sides, names: Names): Promise<void> {
    const isFile = remote.kind === 'file'
    const who = (isFile && remote.modifier) || this.#author
    const name = names.conflictName(remote.name, who, isFile ? remote.mtime : this.#tree.now)
    this.conflicts.push({ kind: remote.kind, path: joinPath(path, name), name })
    await this.#place(path, remote, sides, name)
  }

  /** Puts the client's entry. Of a folder that the head does not have, only the client's changes are put. */
  async #place(path: LibraryPath, remote: Dirent, sides: Sides, name: string): Promise<void> {
    const base = dirOf(sides.base)
    if (remote.kind === 'file' || base === undefined || sides.head?.kind === 'dir') {
      await this.#tree.put(path, { ...remote, name }, { touch: false })
      return
    }
    await this.#tree.put(path, { ...remote, name, id: EMPTY_ID }, { touch: false })
    this.#open.push({ path: joinPath(path, name), base: base.id, head: EMPTY_ID, remote: remote.id })
  }

  #descend(path: LibraryPath, { base, head, remote }: Sides): void {
    this.#open.push({ path, base: idOf(base), head: idOf(head), remote: idOf(remote) })
  }
}

/** The decision for the entries of one name. */
interface Step {
  /** The head's entry stays. */
  readonly keepHead: boolean
  /** The client's entry is put into the tree. */
  readonly takeRemote: boolean
}

const head: Step = { keepHead: true, takeRemote: false }
const remote: Step = { keepHead: false, takeRemote: true }
const both: Step = { keepHead: true, takeRemote: true }
const neither: Step = { keepHead: false, takeRemote: false }

/** `conflict` is the kind of the client's entry that is stored under a conflict name. */
function mergeFile(sides: Sides): Step & { readonly conflict?: 'file' | 'dir' } {
  const [b, h, r] = [fileOf(sides.base), fileOf(sides.head), fileOf(sides.remote)]
  if (h !== undefined && r !== undefined) {
    if (h.id === r.id) return head
    if (b?.id === h.id) return remote
    if (b?.id === r.id) return head
    return { ...both, conflict: 'file' }
  }
  if (r !== undefined) {
    if (b !== undefined && b.id === r.id) return neither
    // The dir of the head is a change by the head, unless the base had the same one.
    const isClash = sides.head !== undefined && (b !== undefined || isChanged(sides.base, sides.head))
    return isClash ? { ...remote, conflict: 'file' } : remote
  }
  if (h !== undefined) {
    if (b !== undefined && b.id === h.id) return neither
    const isClash = sides.remote !== undefined && (b !== undefined || isChanged(sides.base, sides.remote))
    return isClash ? { ...head, conflict: 'dir' } : head
  }
  return neither
}

/** `descend`: the head's dir stays, and the client's changes below it are merged. */
function mergeDir(sides: Sides): Step & { readonly descend?: boolean } {
  const [b, h, r] = [dirOf(sides.base), dirOf(sides.head), dirOf(sides.remote)]
  if (h !== undefined && r !== undefined) {
    if (h.id === r.id) return head
    if (b?.id === h.id) return remote
    return b?.id === r.id ? head : { ...head, descend: true }
  }
  if (h !== undefined) {
    if (b === undefined) return head
    return b.id === h.id ? neither : { ...head, descend: true }
  }
  if (r !== undefined) return b?.id === r.id ? neither : remote
  return neither
}

/** Names in use in one folder on any side, and the conflict names chosen since. */
class Names {
  readonly #dirs: readonly Dir[]
  readonly #chosen = new Set<string>()

  constructor({ base, head, remote }: { base: Dir; head: Dir; remote: Dir }) {
    this.#dirs = [base, head, remote]
  }

  /** A free conflict name. */
  conflictName(original: string, who: string, when: number): string {
    const isTaken = (name: string) =>
      this.#chosen.has(name) || this.#dirs.some((dir) => dir.find(name) !== undefined)
    const wanted = conflictName(original, who, when)
    // Otherwise a dot in the account name would be taken for an extension.
    const name = original.includes('.') ? freeName(wanted, isTaken) : freeWholeName(wanted, isTaken)
    this.#chosen.add(name)
    return name
  }
}

function isChanged(before: Dirent | undefined, after: Dirent): boolean {
  return before === undefined || before.kind !== after.kind || before.id !== after.id
}

function fileOf(entry: Dirent | undefined): FileDirent | undefined {
  return entry?.kind === 'file' ? entry : undefined
}

function dirOf(entry: Dirent | undefined): DirDirent | undefined {
  return entry?.kind === 'dir' ? entry : undefined
}

function idOf(entry: Dirent | undefined): DirId {
  return entry?.kind === 'dir' ? entry.id : EMPTY_ID
}
