import type { Committed, Edit, Edited, LibraryInfo } from '../commits/index.ts'
import { fail } from '../errors.ts'
import type { LibraryPath } from '../objects/index.ts'
import { Tree } from '../tree/index.ts'
import { expectNotMoved, FolderMoved } from '../views/index.ts'
import { type LibraryCore, writersOf } from './core.ts'

/** The permission of a user at a path. */
export type Permission = 'r' | 'rw'

/** What a user may do with a library. */
export interface Right {
  readonly permission: Permission
  /** May manage its shares and empty its trash, as its owner may. */
  readonly isAdmin: boolean
  /** May only add new entries: nothing that exists is replaced, changed or removed. Visitors of links have this right. */
  readonly addsOnly?: boolean
}

/** The account that acts, as far as the core needs to know it. */
export interface Actor {
  readonly key: number
  readonly email: string
  /** Of the account when it was looked up. */
  readonly epoch: number
  /** The API token it acts with; undefined for none. */
  readonly apiTokenKey?: number | undefined
  /** The bounds of the credential it acts with; undefined for none. */
  readonly scope?: { readonly access: 'read' | 'write' | 'upload'; readonly tokenKey: number } | undefined
}

/** A library its holder may read; only access hands one out. It has no way to be changed. */
export class Library {
  #info: LibraryInfo
  readonly actor: Actor
  readonly right: Right
  /** The tree of the head as it was when the library was opened, unless another one is looked at. */
  readonly tree: Tree
  protected readonly core: LibraryCore

  constructor(core: LibraryCore, info: LibraryInfo, actor: Actor, right: Right | Permission, tree?: Tree) {
    this.core = core
    this.#info = info
    this.actor = actor
    this.right = typeof right === 'string' ? { permission: right, isAdmin: false } : right
    this.tree = tree ?? new Tree(core.objects, info.key, info.root)
  }

  get info(): LibraryInfo {
    return this.#info
  }

  get permission(): Permission {
    return this.right.permission
  }

  /**
   * Acts as the owner of the library; of a sub-library: of the one that has its folder. A credential with
   * bounds never does.
   */
  get isOwner(): boolean {
    return this.info.ownerKey === this.actor.key && this.actor.scope === undefined
  }

  /** Owner, or somebody who got the same right to manage shares. */
  get isAdmin(): boolean {
    return this.isOwner || this.right.isAdmin
  }

  /** What the holder may do at a path; the same everywhere: a folder with shares of its own is a sub-library. */
  permissionAt(_path: LibraryPath): Permission {
    return this.permission
  }

  /** The same library, looked at as it was in an earlier tree of its own. */
  asOf(tree: Tree): Library {
    return new Library(this.core, this.info, this.actor, this.right, tree)
  }

  /** The same library for somebody who may at most add to it. */
  addingOnly(): Library {
    return new Library(
      this.core,
      this.info,
      this.actor,
      { ...this.right, isAdmin: false, addsOnly: true },
      this.tree,
    )
  }

  /** The same library, with the right to change it at `path`. Throws permission-denied. */
  editable(path: LibraryPath): EditableLibrary {
    if (this.permissionAt(path) !== 'rw') fail({ code: 'permission-denied' })
    return new EditableLibrary(this.core, this.info, this.actor, this.right)
  }

  /** The same library, with the rights of its owner; nobody owns a sub-library. Throws permission-denied. */
  owned(): OwnedLibrary {
    const { isOwner, info, right } = this
    if (!isOwner || info.sub !== undefined || right.addsOnly) fail({ code: 'permission-denied' })
    return new OwnedLibrary(this.core, this.info, this.actor, this.right)
  }

  /** The same library, with the right to manage its shares. Throws permission-denied. */
  administered(): AdministeredLibrary {
    if (!this.isAdmin) fail({ code: 'permission-denied' })
    return new AdministeredLibrary(this.core, this.info, this.actor, this.right)
  }

  /** Reads the sub-library again after its folder was moved. Throws library-not-found. */
  protected async refresh(): Promise<void> {
    const { sub, id } = this.info
    const [now] = sub === undefined ? [] : await this.core.views.findSubLibraryInfos('key', [sub.key])
    this.#info = now ?? fail({ code: 'library-not-found', id })
  }
}

/** A library its holder may change; only Library.editable() hands one out. */
export class EditableLibrary extends Library {
  /**
   * Runs `apply` on the tree of the current head, stores what it changed, and moves the head. If
   * another commit came first, `apply` runs again on that one, so a caller never sees a moved head.
   * On any throw the head is where it was. Throws permission-denied for who may only add.
   */
  async commit<T>(apply: Edit<T>['apply']): Promise<Committed<T>> {
    if (this.right.addsOnly) fail({ code: 'permission-denied' })
    return this.#commit({ author: this.actor.email, apply })
  }

  /**
   * As commit, for an upload: it may share its commit with others of this actor that wait with it. Open to who may
   * only add: `addFiles`, its one caller, then neither replaces nor changes an entry.
   */
  commitUpload<T>(apply: Edit<T>['apply']): Promise<Committed<T>> {
    return this.#commit({ author: this.actor.email, isUpload: true, apply })
  }

  async #commit<T>(edit: Edit<T>): Promise<Committed<T>> {
    if (this.info.sub === undefined) return writersOf(this.core).commit(this.info, edit)
    for (;;) {
      try {
        return await this.#commitBelow(edit)
      } catch (error) {
        // Nobody gets an error because somebody else renamed a folder (I5).
        if (!(error instanceof FolderMoved)) throw error
        await this.refresh()
      }
    }
  }

  /** An edit of a sub-library is an edit of its origin that sees no more than the folder. Throws FolderMoved. */
  async #commitBelow<T>(edit: Edit<T>): Promise<Committed<T>> {
    const { info } = this
    const { sub } = info
    if (sub === undefined) return writersOf(this.core).commit(info, edit)
    return writersOf(this.core).commit<T>(sub.origin, {
      ...edit,
      apply: async (tree, origin): Promise<Edited<T>> => {
        const view = await tree.below(sub.path)
        if (view === undefined) throw new FolderMoved()
        const edited = await edit.apply(view, { ...info, headSeq: origin.headSeq, sub: { ...sub, origin } })
        return {
          ...edited,
          also: async (tx) => {
            await expectNotMoved(tx, info)
            await edited.also?.(tx)
          },
        }
      },
    })
  }
}

/** A library in the hands of its owner. */
export class OwnedLibrary extends EditableLibrary {
  readonly owner = true
}

/** A library, or the folder of one, in the hands of somebody who may manage its shares. */
export class AdministeredLibrary extends Library {
  readonly admin = true
}
