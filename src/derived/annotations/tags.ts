import { fail } from '../../base/errors.ts'
import { type LibraryPath, parentOf, ROOT } from '../../base/paths/index.ts'
import type { Library } from '../../libraries/library/index.ts'
import { asSeen, inOrigin, type LibraryInfo, originOf } from '../../libraries/registry/index.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import type { Access } from '../../sharing/access/index.ts'
import { findAnnotatedFile, putAnnotatedFile } from './annotated-file-store.ts'
import type { AnnotationEvent } from './annotation-event.ts'
import { type FileOf, type FilesOf, writeBound, writeBoundAll } from './bound-write.ts'
import {
  copyFileTags,
  deleteFileTag,
  deleteTag,
  deleteTagOfFile,
  type FileTag,
  findFileTag,
  findTag,
  findTagByName,
  foldName,
  insertFileTag,
  insertTag,
  listFileTags,
  listFileTagsIn,
  listFileTagsOf,
  listTags,
  type Tag,
  updateTag,
} from './tag-store.ts'

/** Limits. */
export const MAX_TAGS = 200
const MAX_TAGS_OF_FILE = 50

interface TagsOptions {
  readonly db: Database
  readonly access: Access
  /** Called in the transaction of each change. */
  readonly record: (tx: Transaction, event: AnnotationEvent) => Promise<void>
}

/**
 * The tags of libraries and of their files. Who may write to a library manages its tags. A shared folder shows only the
 * tags of its own files, because the names of the others may reveal something; they are managed in the library.
 */
export class Tags {
  readonly #options: TagsOptions

  constructor(options: TagsOptions) {
    this.#options = options
  }

  /** The tags that the library shows, with the number of files that have each. */
  async list(library: Library): Promise<(Tag & { readonly files: number })[]> {
    const { db } = this.#options
    const { info } = library
    const counts = new Map<number, number>()
    for (const { path, tag, isDeleted } of await listFileTagsOf(db, info.key)) {
      if (!isDeleted && asSeen(info, path) !== undefined) counts.set(tag.id, (counts.get(tag.id) ?? 0) + 1)
    }
    const all = await listTags(db, info.key)
    const shown = info.sub === undefined ? all : all.filter(({ id }) => counts.has(id))
    return shown.map((tag) => ({ ...tag, files: counts.get(tag.id) ?? 0 }))
  }

  /** Throws permission-denied, tag-exists, limit-reached. */
  async add(library: Library, { name, color }: { name: string; color: string }): Promise<Tag> {
    const { info } = this.#managed(library)
    const folded = foldName(name)
    return this.#options.db.write(async (tx) => {
      if ((await listTags(tx, info.key)).length >= MAX_TAGS)
        fail({ code: 'limit-reached', what: 'tags', limit: MAX_TAGS })
      const isNew = await insertTag(tx, info.key, { name, folded, color })
      const tag = await findTagByName(tx, info.key, folded)
      if (!isNew || tag === undefined) return fail({ code: 'tag-exists', name })
      await this.#recordChange(tx, library, ROOT)
      return tag
    })
  }

  /** Throws permission-denied, tag-not-found, tag-exists. */
  async change(library: Library, id: number, values: { name: string; color: string }): Promise<Tag> {
    const { info } = this.#managed(library)
    return this.#options.db.write(async (tx) => {
      const found = (await findTag(tx, info.key, id)) ?? fail({ code: 'tag-not-found' })
      const folded = foldName(values.name)
      const other = await findTagByName(tx, info.key, folded)
      if (other !== undefined && other.id !== id) fail({ code: 'tag-exists', name: values.name })
      const changed = { ...found, ...values }
      await updateTag(tx, { ...changed, folded })
      await this.#recordChange(tx, library, ROOT)
      return changed
    })
  }

  /** Removes it from all files, too. Throws permission-denied, tag-not-found. */
  async remove(library: Library, id: number): Promise<void> {
    const { info } = this.#managed(library)
    await this.#options.db.write(async (tx) => {
      if ((await findTag(tx, info.key, id)) === undefined) fail({ code: 'tag-not-found' })
      await deleteTag(tx, id)
      await this.#recordChange(tx, library, ROOT)
    })
  }

  /** Replaces a tag by another one at all its files, and deletes it. Throws permission-denied, tag-not-found. */
  async merge(library: Library, id: number, into: number): Promise<Tag> {
    const { info } = this.#managed(library)
    return this.#options.db.write(async (tx) => {
      const [from, to] = [await findTag(tx, info.key, id), await findTag(tx, info.key, into)]
      if (from === undefined || to === undefined || id === into) return fail({ code: 'tag-not-found' })
      await copyFileTags(tx, id, into)
      await deleteTag(tx, id)
      await this.#recordChange(tx, library, ROOT)
      return to
    })
  }

  async ofFile({ info }: Library, path: LibraryPath): Promise<FileTag[]> {
    const { db } = this.#options
    const file = await findAnnotatedFile(db, info.key, inOrigin(info, path))
    return file === undefined ? [] : listFileTags(db, file)
  }

  /** The tags of the files directly in a folder, by path as the library shows it. */
  async inFolder({ info }: Library, folder: LibraryPath): Promise<Map<LibraryPath, FileTag[]>> {
    const found = await listFileTagsIn(this.#options.db, info.key, inOrigin(info, folder))
    const seen = found.flatMap((tag) => {
      const path = asSeen(info, tag.path)
      return path === undefined || tag.isDeleted ? [] : { path, tag }
    })
    return new Map(
      Array.from(
        Map.groupBy(seen, ({ path }) => path),
        ([path, all]) => [path, all.map(({ tag }) => tag)],
      ),
    )
  }

  /** The files with a tag, as the library shows them, and in a whole library deleted ones. Throws tag-not-found. */
  async filesWith(
    library: Library,
    id: number,
  ): Promise<{ fileTagId: number; path: LibraryPath; isDeleted: boolean }[]> {
    const { db } = this.#options
    const { info } = library
    const all = (await listFileTagsOf(db, info.key)).filter(({ tag }) => tag.id === id)
    const shown = all.flatMap((tag) => {
      const path = shownPath(info, tag)
      return path === undefined ? [] : { fileTagId: tag.id, path, isDeleted: tag.isDeleted }
    })
    const isShown = shown.length > 0 || info.sub === undefined
    if (!isShown || (await findTag(db, info.key, id)) === undefined) fail({ code: 'tag-not-found' })
    return shown
  }

  /**
   * Throws library-not-found, permission-denied, path-not-found, tag-not-found, limit-reached; tag-exists if the file
   * has it.
   */
  async tagFile(file: FileOf, tagId: number): Promise<FileTag> {
    return writeBound(this.#options, file, async (library, place) => {
      library.editable(parentOf(file.path))
      const shown = (await this.list(library)).find(({ id }) => id === tagId)
      if (shown === undefined) return fail({ code: 'tag-not-found' })
      return async (tx, fileKey) => {
        const tag = (await findTag(tx, library.info.key, tagId)) ?? fail({ code: 'tag-not-found' })
        if ((await listFileTags(tx, fileKey)).length >= MAX_TAGS_OF_FILE) {
          fail({ code: 'limit-reached', what: 'tags', limit: MAX_TAGS_OF_FILE })
        }
        if (!(await insertFileTag(tx, fileKey, tagId))) fail({ code: 'tag-exists', name: tag.name })
        await this.#recordChange(tx, library, place)
        const added = (await listFileTags(tx, fileKey)).find((one) => one.tag.id === tagId)
        return added ?? fail({ code: 'tag-not-found' })
      }
    })
  }

  /**
   * Adds tags to several files and removes tags from them: of all files, or of none. Returns the number of files that changed. Throws
   * library-not-found, permission-denied, path-not-found, tag-not-found, limit-reached.
   */
  async tagFiles(
    files: FilesOf,
    { add, remove }: { readonly add: readonly number[]; readonly remove: readonly number[] },
  ): Promise<number> {
    return writeBoundAll(this.#options, files, async (library) => {
      for (const folder of new Set(files.paths.map(parentOf))) library.editable(folder)
      const shown = new Set((await this.list(library)).map(({ id }) => id))
      if (![...add, ...remove].every((id) => shown.has(id))) fail({ code: 'tag-not-found' })
      return async (tx) => {
        let changed = 0
        for (const path of files.paths) {
          const place = inOrigin(library.info, path)
          if (!(await changeTags(tx, library.info.key, place, { add, remove }))) continue
          await this.#recordChange(tx, library, place)
          changed++
        }
        return changed
      }
    })
  }

  /** Throws permission-denied, tag-not-found. */
  async untagFile(library: Library, id: number): Promise<void> {
    const { db } = this.#options
    const found = await findFileTag(db, library.info.key, id)
    const path = found && shownPath(library.info, found)
    if (found === undefined || path === undefined) return fail({ code: 'tag-not-found' })
    library.editable(parentOf(path))
    await db.write(async (tx) => {
      await deleteFileTag(tx, id)
      await this.#recordChange(tx, library, found.path)
    })
  }

  #managed(library: Library): Library {
    library.editable(ROOT)
    if (library.info.sub !== undefined) fail({ code: 'permission-denied' })
    return library
  }

  #recordChange(tx: Transaction, { info, actor }: Library, path: LibraryPath): Promise<void> {
    const author = { email: actor.email }
    return this.#options.record(tx, { kind: 'tag', library: originOf(info), path, author, recipients: [] })
  }
}

/** False if the file has all of the former tags, and none of the latter. Throws tag-not-found, limit-reached. */
async function changeTags(
  tx: Transaction,
  libraryKey: number,
  place: LibraryPath,
  { add, remove }: { readonly add: readonly number[]; readonly remove: readonly number[] },
): Promise<boolean> {
  const known = await findAnnotatedFile(tx, libraryKey, place)
  const had = new Set(known === undefined ? [] : (await listFileTags(tx, known)).map(({ tag }) => tag.id))
  const added = add.filter((id) => !had.has(id))
  const removed = remove.filter((id) => had.has(id))
  if (added.length + removed.length === 0) return false
  if (had.size + added.length - removed.length > MAX_TAGS_OF_FILE) {
    fail({ code: 'limit-reached', what: 'tags', limit: MAX_TAGS_OF_FILE })
  }
  const fileKey = known ?? (await putAnnotatedFile(tx, libraryKey, place))
  for (const id of removed) await deleteTagOfFile(tx, fileKey, id)
  for (const id of added) {
    // It may have been deleted since it was listed.
    if ((await findTag(tx, libraryKey, id)) === undefined) fail({ code: 'tag-not-found' })
    await insertFileTag(tx, fileKey, id)
  }
  return true
}

/** The path of a tagged file as the library shows it. What was deleted in a shared folder may be from before it was shared. */
function shownPath(info: LibraryInfo, { path, isDeleted }: FileTag): LibraryPath | undefined {
  return isDeleted && info.sub !== undefined ? undefined : asSeen(info, path)
}
