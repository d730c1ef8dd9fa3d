import { fail } from '../../base/errors.ts'
import type { LibraryPath } from '../../base/paths/index.ts'
import type { Committed, Edit, Edited } from '../commits/index.ts'
import { LibraryHistory } from '../history/index.ts'
import { type LibraryInfo, originOf, type SubLibrary } from '../registry/index.ts'
import { Tree } from '../tree/index.ts'
import { expectNotMoved, FolderMoved } from '../views/index.ts'
import { type LibraryCore, storesOf, writersOf } from './core.ts'
import { LibraryContent } from './library-content.ts'
import { fileLocks, newEntryIn } from './locks.ts'

/** The permission of a user at a path. */
export type Permission = 'r' | 'rw'

/** The right of a user on a library. */
export interface Right {
  readonly permission: Permission
  /** May manage its shares and empty its trash, like the owner. */
  readonly isAdmin: boolean
  /** May only add new entries: nothing that exists is replaced, changed or removed. Visitors of links have this right. */
  readonly addsOnly?: boolean
}

/** Names the received blocks of an edit. Resolves when they are durable (I1). May be called again. */
export type Ready = () => Promise<void>

/** The acting account, with the fields the core needs. */
export interface Actor {
  readonly key: number
  readonly email: string
  /** The epoch of the account when it was read. */
  readonly epoch: number
  /** The API token of the request; undefined for none. */
  readonly apiTokenKey?: number | undefined
  /** The scope of the request's credential; undefined for none. */
  readonly scope?: { readonly access: 'read' | 'write' | 'upload'; readonly tokenKey: number } | undefined
}

/** A handle for reading a library. Only the access check creates one. */
export class Library {
  #info: LibraryInfo
  readonly actor: Actor
  readonly right: Right
  /** The tree of the head when the library was opened, unless `asOf` selected another. */
  readonly tree: Tree
  protected readonly core: LibraryCore

  constructor(core: LibraryCore, info: LibraryInfo, actor: Actor, right: Right | Permission, tree?: Tree) {
    this.core = core
    this.#info = info
    const { objects } = storesOf(core)
    objects.epochs.see(info.key, info.objectsEpoch)
    this.actor = actor
    this.right = typeof right === 'string' ? { permission: right, isAdmin: false } : right
    this.tree = tree ?? new Tree(objects, info.key, info.root, info.rootDir)
  }

  get info(): LibraryInfo {
    return this.#info
  }

  get permission(): Permission {
    return this.right.permission
  }

  /** Its dirs, files and blocks. */
  get content(): LibraryContent {
    return new LibraryContent(storesOf(this.core), this.info)
  }

  /** Its history, revisions and trash. */
  get history(): LibraryHistory {
    return new LibraryHistory(storesOf(this.core).history, this.info)
  }

  /** The sub-library of a folder, created if there is none. Throws path-not-found, root-not-allowed, and encrypted-mismatch in an encrypted library. */
  subLibraryAt(path: LibraryPath): Promise<SubLibrary> {
    return storesOf(this.core).views.subLibraryAt(this, path)
  }

  /** Whether the actor owns the library; for a sub-library, its origin. False for a scoped credential. */
  get isOwner(): boolean {
    return this.info.ownerKey === this.actor.key && this.actor.scope === undefined
  }

  /** Whether the actor is the owner, or may manage shares like the owner. */
  get isAdmin(): boolean {
    return this.isOwner || this.right.isAdmin
  }

  /**
   * The permission at a path. It is the same everywhere, because a folder with shares of its own is a
   * sub-library.
   */
  permissionAt(_path: LibraryPath): Permission {
    return this.permission
  }

  /** The same library with an earlier tree. */
  asOf(tree: Tree): Library {
    return new Library(this.core, this.info, this.actor, this.right, tree)
  }

  /** The same library, restricted to the add-only right. */
  addingOnly(): Library {
    return new Library(
      this.core,
      this.info,
      this.actor,
      { ...this.right, isAdmin: false, addsOnly: true },
      this.tree,
    )
  }

  /** The same library as a handle for changes at `path`. Throws permission-denied. */
  editable(path: LibraryPath): EditableLibrary {
    if (this.permissionAt(path) !== 'rw') fail({ code: 'permission-denied' })
    return new EditableLibrary(this.core, this.info, this.actor, this.right)
  }

  /** The same library as a handle for its owner. A sub-library has none. Throws permission-denied. */
  owned(): OwnedLibrary {
    const { isOwner, info, right } = this
    if (!isOwner || info.sub !== undefined || right.addsOnly) fail({ code: 'permission-denied' })
    return new OwnedLibrary(this.core, this.info, this.actor, this.right)
  }

  /** The same library as a handle for managing its shares. Throws permission-denied. */
  administered(): AdministeredLibrary {
    if (!this.isAdmin) fail({ code: 'permission-denied' })
    return new AdministeredLibrary(this.core, this.info, this.actor, this.right)
  }

  /** Reads the sub-library again after its folder was moved. Throws library-not-found. */
  protected async refresh(): Promise<void> {
    const { sub, id } = this.info
    const [now] =
      sub === undefined ? [] : await storesOf(this.core).views.findSubLibraryInfos('key', [sub.key])
    this.#info = now ?? fail({ code: 'library-not-found', id })
  }
}

/** A handle for changing a library. Only Library.editable() creates one. */
export class EditableLibrary extends Library {
  /** Throws locked if another account has locked the file. */
  refuseLockedFile(path: LibraryPath): Promise<void> {
    return fileLocks.refuse(this.core, this, [path])
  }

  /** Throws locked if another account has locked the folder with all its content. */
  refuseLockedFolder(folder: LibraryPath): Promise<void> {
    return fileLocks.refuse(this.core, this, [newEntryIn(folder)])
  }

  /**
   * Runs `apply` on the tree of the current head, stores the changes, and moves the head. If another commit
   * came first, `apply` runs again on the new head, so a caller never sees a moved head. If it throws, the
   * head is unchanged. Throws permission-denied for an add-only handle. With `ready`, the edit is rehearsed first: `ready` names the blocks of its
   * content, and is not called if the edit is refused or stores no content.
   */
  async commit<T>(apply: Edit<T>['apply'], ready?: Ready): Promise<Committed<T>> {
    if (this.right.addsOnly) fail({ code: 'permission-denied' })
    return this.#commit({ author: this.actor.email, apply }, ready)
  }

  /**
   * As commit, for an upload, which may share its commit with other queued uploads of this actor. Permitted
   * for an add-only handle, because the callers, `addFiles` and `addFolder`, then neither replace nor change an entry.
   */
  commitUpload<T>(apply: Edit<T>['apply'], ready?: Ready): Promise<Committed<T>> {
    // Only visitors of links have an add-only handle (see Tickets).
    const viaLink = this.right.addsOnly === true
    return this.#commit({ author: this.actor.email, viaLink, isUpload: true, apply }, ready)
  }

  async #commit<T>(edit: Edit<T>, ready: Ready | undefined): Promise<Committed<T>> {
    if (this.info.sub === undefined) return this.#commitTo(this.info, edit, ready)
    for (;;) {
      try {
        return await this.#commitBelow(edit, ready)
      } catch (error) {
        // A concurrent rename of the folder is not an error for the caller (I5).
        if (!(error instanceof FolderMoved)) throw error
        await this.refresh()
      }
    }
  }

  /** An edit of a sub-library is an edit of its origin, restricted to the folder or file. Throws FolderMoved. */
  async #commitBelow<T>(edit: Edit<T>, ready: Ready | undefined): Promise<Committed<T>> {
    const { info } = this
    const { sub } = info
    if (sub === undefined) return this.#commitTo(info, edit, ready)
    const below: Edit<T> = {
      ...edit,
      apply: async (tree, origin): Promise<Edited<T>> => {
        const view = sub.isFile ? await tree.ofFile(sub.path) : await tree.below(sub.path)
        if (view === undefined) throw new FolderMoved()
        const edited = await edit.apply(view, { ...info, headSeq: origin.headSeq, sub: { ...sub, origin } })
        if (sub.isFile) await tree.replaceFile(sub.path, view)
        return {
          ...edited,
          also: async (tx) => {
            await expectNotMoved(tx, info)
            await edited.also?.(tx)
          },
        }
      },
    }
    return this.#commitTo(sub.origin, below, ready)
  }

  async #commitTo<T>(library: LibraryInfo, edit: Edit<T>, ready: Ready | undefined): Promise<Committed<T>> {
    const writers = writersOf(this.core)
    if (ready !== undefined) {
      const unchanged = await writers.rehearse(library, edit)
      if (unchanged !== undefined) return unchanged
      await ready()
    }
    return writers.commit(library, edit)
  }
}

/**
 * The origin of a view as a handle with the right of the view, for operations between views of one origin. Their permission was checked on
 * both sides, and they touch nothing else.
 */
export function editableOrigin(core: LibraryCore, view: EditableLibrary): EditableLibrary {
  return new EditableLibrary(core, originOf(view.info), view.actor, view.right)
}

/** A handle for the owner of a library. */
export class OwnedLibrary extends EditableLibrary {
  readonly owner = true
}

/** A handle for managing the shares of a library or sub-library. */
export class AdministeredLibrary extends Library {
  readonly admin = true
}
