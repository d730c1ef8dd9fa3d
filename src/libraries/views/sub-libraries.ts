import { hash } from 'node:crypto'
import { fail } from '../../base/errors.ts'
import { type CommitId, type DirId, type LibraryId, newLibraryId } from '../../base/objects/index.ts'
import { baseName, type LibraryPath, parentOf, ROOT } from '../../base/paths/index.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import { EditConflict } from '../commits/index.ts'
import { type LibraryEncryption, libraryPasswords } from '../content/index.ts'
import {
  asSeen,
  inOrigin,
  type LibraryInfo,
  libraryRows,
  originOf,
  type SubLibrary,
} from '../registry/index.ts'
import { dirOfFile, type ObjectStore, Tree } from '../tree/index.ts'
import {
  deleteSubLibrary,
  findSubLibraryAt,
  findSubLibraryByKey,
  findWithOrigin,
  listSubLibraries,
  putSubLibrary,
  restartSubLibrary,
  setPasswordCheck,
  setSubLibraryPath,
} from './sub-library-store.ts'

// A sub-library is a view of a folder, or of one file, as a library. Its tree is the folder, its edits are edits of the origin, and it follows
// the folder through moves within the origin.

/** The services that views need. */
export interface ViewStores {
  readonly db: Database
  readonly objects: ObjectStore
}

/** A library and its tree when it was opened. */
interface OpenLibrary {
  readonly info: LibraryInfo
  readonly tree: Tree
}

/** The current content of a sub-library; undefined if its folder is gone. */
export async function resolveSubLibrary(
  stores: ViewStores,
  origin: LibraryInfo,
  sub: SubLibrary,
): Promise<LibraryInfo | undefined> {
  const above = await new Tree(stores.objects, origin.key, origin.root).findDir(parentOf(sub.path))
  const entry = above?.dir.resolve(baseName(sub.path))
  if (entry === undefined || (entry.kind === 'file') !== sub.isFile) return undefined
  const { size, fileCount } = await stores.objects.totalsOf(origin.key, entry)
  const rootDir = entry.kind === 'file' ? dirOfFile(entry) : undefined
  const root = entry.kind === 'file' ? dirOfFile(entry).dir.id : entry.id
  return {
    ...origin,
    id: sub.id,
    name: entry.name,
    description: '',
    head: headOf(sub, root),
    root,
    rootDir,
    size,
    fileCount,
    updatedAt: entry.mtime,
    validSinceSeq: Math.max(origin.validSinceSeq, sub.sinceSeq),
    encryption: origin.encryption && libraryPasswords.withCheck(origin.encryption, sub.passwordCheck),
    sub: { ...sub, origin },
  }
}

/** The head of a sub-library, derived from its content: equal content has an equal head. */
function headOf(sub: SubLibrary, root: DirId): CommitId {
  return hash('sha1', `${sub.id}\n${root}`, 'hex') as CommitId
}

/** The sub-libraries with these ids or keys, as they are now; those whose folder is gone are left out. */
export async function findSubLibraryInfos(
  stores: ViewStores,
  column: 'id' | 'key',
  values: readonly (LibraryId | number)[],
): Promise<LibraryInfo[]> {
  const infos: LibraryInfo[] = []
  for (const { sub, origin } of await findWithOrigin(stores.db, column, values)) {
    const info = await resolveSubLibrary(stores, origin, sub)
    if (info !== undefined) infos.push(info)
  }
  return infos
}

/** The sub-library of a folder, created if there is none. Throws path-not-found, root-not-allowed, and encrypted-mismatch in an encrypted library. */
export async function subLibraryAt(
  stores: ViewStores,
  library: OpenLibrary,
  path: LibraryPath,
): Promise<SubLibrary> {
  const place = await subLibraryPlace(library, path)
  const known = await findSubLibraryAt(stores.db, place.libraryKey, place.path)
  if (known !== undefined) return known
  const { libraryKey, path: folder, headSeq } = place
  return stores.db.write((tx) => putSubLibrary(tx, libraryKey, folder, headSeq, { isFile: false }))
}

/**
 * As subLibraryAt, in an encrypted library. `password` must have passed the check of `library`. Clients check it with the id of the view,
 * so the view stores a check value of its own. Undefined if the password has been changed meanwhile.
 */
export async function encryptedSubLibraryAt(
  stores: ViewStores,
  library: OpenLibrary,
  encryption: LibraryEncryption,
  path: LibraryPath,
  password: string,
): Promise<SubLibrary | undefined> {
  const { libraryKey, path: folder, headSeq } = await placeOf(library, path, { isFile: false })
  for (;;) {
    const id = (await findSubLibraryAt(stores.db, libraryKey, folder))?.id ?? newLibraryId()
    const check = await libraryPasswords.checkOf(id, encryption, password)
    if (check === undefined) return undefined
    const created = await stores.db.write(async (tx) => {
      const now = await libraryRows.findByKey(tx, libraryKey)
      if (now?.encryption?.randomKey !== encryption.randomKey) return undefined
      const sub = await putSubLibrary(tx, libraryKey, folder, headSeq, { isFile: false, id })
      if (sub.id === id && sub.passwordCheck !== check) await setPasswordCheck(tx, sub.key, check)
      return sub
    })
    // Another request created it under another id.
    if (created === undefined || created.id === id) return created
  }
}

/** The check values of a new password for the views of a library, by their keys. */
export async function passwordChecksOf(
  stores: ViewStores,
  libraryKey: number,
  encryption: LibraryEncryption,
  password: string,
): Promise<{ readonly ids: readonly LibraryId[]; readonly checks: ReadonlyMap<number, string> }> {
  const views = await listSubLibraries(stores.db, libraryKey)
  const checks = new Map<number, string>()
  for (const { key, id } of views) {
    const check = await libraryPasswords.checkOf(id, encryption, password)
    if (check !== undefined) checks.set(key, check)
  }
  return { ids: views.map(({ id }) => id), checks }
}

/** As subLibraryAt, for a new share. If it is not shared yet, its history begins now. */
export async function subLibraryToShare(
  tx: Transaction,
  place: SubLibraryPlace,
  isShared: (subKey: number) => Promise<boolean>,
): Promise<SubLibrary> {
  const { libraryKey, path, headSeq, isFile } = place
  const sub = await putSubLibrary(tx, libraryKey, path, headSeq, { isFile })
  if (!(await isShared(sub.key))) await restartSubLibrary(tx, sub.key, headSeq)
  return sub
}

/** A folder that can be a sub-library, or a file. */
interface SubLibraryPlace {
  readonly isFile: boolean
  readonly libraryKey: number
  readonly path: LibraryPath
  readonly headSeq: number
}

/** Throws like subLibraryAt. */
export async function subLibraryPlace(library: OpenLibrary, path: LibraryPath): Promise<SubLibraryPlace> {
  refuseEncrypted(library)
  return placeOf(library, path, { isFile: false })
}

/** As subLibraryPlace, for a file. */
export async function filePlace(library: OpenLibrary, path: LibraryPath): Promise<SubLibraryPlace> {
  refuseEncrypted(library)
  return placeOf(library, path, { isFile: true })
}

function refuseEncrypted({ info }: OpenLibrary): void {
  if (info.encryption !== undefined) fail({ code: 'encrypted-mismatch' })
}

async function placeOf(
  library: OpenLibrary,
  path: LibraryPath,
  { isFile }: { isFile: boolean },
): Promise<SubLibraryPlace> {
  if (isFile) await library.tree.getFile(path)
  else await library.tree.getDir(path)
  const { key, headSeq } = originOf(library.info)
  const place = inOrigin(library.info, path)
  if (place === ROOT) fail({ code: 'root-not-allowed' })
  return { libraryKey: key, path: place, headSeq, isFile }
}

/** The folder of a sub-library was moved or deleted after the sub-library was opened. */
export class FolderMoved extends EditConflict {
  override name = 'FolderMoved'
}

/** For the transaction of a commit through a sub-library. Throws FolderMoved if another edit moved its folder. */
export async function expectNotMoved(tx: Transaction, library: LibraryInfo): Promise<void> {
  const { sub } = library
  if (sub === undefined) return
  const now = await findSubLibraryByKey(tx, sub.key)
  if (now?.path !== sub.path) throw new FolderMoved()
}

/** A sub-library and the path of its folder in another tree of the library; undefined if it is not there. */
interface SubLibraryLocation {
  readonly sub: SubLibrary
  readonly path: LibraryPath | undefined
}

/**
 * Finds the folders of sub-libraries in a tree that will replace the whole tree of a library or sub-library: at their old path, or
 * at the path that `movedTo` returns. Paths are paths of the origin.
 */
export async function locateSubLibraries(
  stores: ViewStores,
  library: LibraryInfo,
  root: DirId,
  movedTo: (path: LibraryPath) => LibraryPath | undefined = () => undefined,
): Promise<SubLibraryLocation[]> {
  const tree = new Tree(stores.objects, library.key, root)
  const locations: SubLibraryLocation[] = []
  for (const sub of await listSubLibraries(stores.db, library.key)) {
    const seen = asSeen(library, sub.path)
    if (seen === undefined || seen === ROOT) continue
    const isThere = (await tree.find(seen))?.kind === (sub.isFile ? 'file' : 'dir')
    const path = isThere ? sub.path : movedTo(sub.path)
    if (path !== sub.path) locations.push({ sub, path })
  }
  return locations
}

/** Writes the result of locateSubLibraries in the transaction of the commit that replaces the tree (I2). */
export async function updateSubLibraryPaths(
  tx: Transaction,
  locations: readonly SubLibraryLocation[],
): Promise<void> {
  for (const { sub, path } of locations) {
    if (path === undefined) await deleteSubLibrary(tx, sub.key)
    else await setSubLibraryPath(tx, sub.key, path)
  }
}
