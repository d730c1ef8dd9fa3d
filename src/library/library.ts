import { fail } from '../errors.ts'
import type { LibraryPath } from '../objects/paths.ts'
import type { LibraryCore } from './core.ts'
import type { LibraryInfo } from './library-info.ts'
import { Tree } from './tree.ts'
import type { Committed, Edit } from './writer.ts'

/** What a user may do at a path. */
export type Permission = 'r' | 'rw'

/** The account that acts, as far as the core needs to know it. */
export interface Actor {
  readonly key: number
  readonly email: string
  /** The bounds of the credential it acts with; undefined for none. */
  readonly scope?: { readonly access: 'read' | 'write' | 'upload'; readonly tokenKey: number } | undefined
}

/** A library its holder may read; only access hands one out. It has no way to be changed. */
export class Library {
  readonly info: LibraryInfo
  readonly actor: Actor
  readonly permission: Permission
  /** The tree of the head as it was when the library was opened, unless another one is looked at. */
  readonly tree: Tree
  protected readonly core: LibraryCore

  constructor(core: LibraryCore, info: LibraryInfo, actor: Actor, permission: Permission, tree?: Tree) {
    this.core = core
    this.info = info
    this.actor = actor
    this.permission = permission
    this.tree = tree ?? new Tree(core.objects, info.key, info.root)
  }

  /** Whether the holder acts as the owner; a credential with bounds never does. */
  get isOwner(): boolean {
    return this.info.ownerKey === this.actor.key && this.actor.scope === undefined
  }

  /** What the holder may do at a path; the same everywhere until folders have shares of their own. */
  permissionAt(_path: LibraryPath): Permission {
    return this.permission
  }

  /** The same library, looked at as it was in an earlier tree of its own. */
  asOf(tree: Tree): Library {
    return new Library(this.core, this.info, this.actor, this.permission, tree)
  }

  /** The same library, with the right to change it at `path`. Throws permission-denied. */
  editable(path: LibraryPath): EditableLibrary {
    if (this.permissionAt(path) !== 'rw') fail({ code: 'permission-denied' })
    return new EditableLibrary(this.core, this.info, this.actor, this.permission)
  }

  /** The same library, with the rights of its owner. Throws permission-denied. */
  owned(): OwnedLibrary {
    if (!this.isOwner) fail({ code: 'permission-denied' })
    return new OwnedLibrary(this.core, this.info, this.actor, this.permission)
  }
}

/** A library its holder may change; only Library.editable() hands one out. */
export class EditableLibrary extends Library {
  /**
   * Runs `apply` on the tree of the current head, stores what it changed, and moves the head. If
   * another commit came first, `apply` runs again on that one, so a caller never sees a moved head.
   * On any throw the head is where it was.
   */
  commit<T>(apply: Edit<T>['apply']): Promise<Committed<T>> {
    return this.core.writers.commit(this.info, { author: this.actor.email, apply })
  }

  /** As commit, for an upload: it may share its commit with others of this actor that wait with it. */
  commitUpload<T>(apply: Edit<T>['apply']): Promise<Committed<T>> {
    return this.core.writers.commit(this.info, { author: this.actor.email, isUpload: true, apply })
  }
}

/** A library in the hands of its owner. */
export class OwnedLibrary extends EditableLibrary {
  readonly owner = true
}
