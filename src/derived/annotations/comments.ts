import { fail } from '../../base/errors.ts'
import type { LibraryPath } from '../../base/paths/index.ts'
import { type MaybePromise, whenReady } from '../../base/scheduling/index.ts'
import type { Library } from '../../libraries/library/index.ts'
import { asSeen, inOrigin, type LibraryInfo, originOf } from '../../libraries/registry/index.ts'
import type { Account, Accounts } from '../../people/accounts/index.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import type { Access } from '../../sharing/access/index.ts'
import { findAnnotatedFile } from './annotated-file-store.ts'
import type { AnnotationEvent, CommentRecipient } from './annotation-event.ts'
import { type FileOf, writeBound } from './bound-write.ts'
import { indexComment } from './comment-index.ts'
import {
  type Comment,
  type CommentChanges,
  countCharacters,
  countComments,
  countCommentsBy,
  countCommentsIn,
  deleteComment,
  deleteParticipant,
  findComment,
  insertComment,
  insertParticipants,
  listComments,
  listParticipants,
  updateComment,
} from './comment-store.ts'
import { mentionsIn } from './mentions.ts'

/** Limits of a file. */
export const MAX_COMMENTS = 1000
/** Characters of all comments with their details, because one call lists them. */
export const MAX_COMMENT_TEXT = 2 ** 20
const MAX_PARTICIPANTS = 100
/** Comments of one author in all libraries. No quota counts them, and readers may comment in libraries of others. */
export const MAX_COMMENTS_OF_ACCOUNT = 20_000

interface CommentsOptions {
  readonly db: Database
  readonly access: Access
  readonly accounts: Accounts
  /** Unix seconds. */
  readonly now: () => number
  /** Called in the transaction of each change. */
  readonly record: (tx: Transaction, event: AnnotationEvent) => Promise<void>
}

/**
 * Comments on files, and the participants of a file, who are notified of them. Who may read a file may comment on it.
 * Comments in encrypted libraries are refused, because the server would store them unencrypted.
 */
export class Comments {
  readonly #options: CommentsOptions

  constructor(options: CommentsOptions) {
    this.#options = options
  }

  /** The comments on a file, oldest first. */
  async list({ info }: Library, path: LibraryPath): Promise<Comment[]> {
    const { db } = this.#options
    const file = await findAnnotatedFile(db, info.key, inOrigin(info, path))
    return file === undefined ? [] : listComments(db, file)
  }

  count({ info }: Library, path: LibraryPath): MaybePromise<number> {
    const { db } = this.#options
    return whenReady(findAnnotatedFile(db, info.key, inOrigin(info, path)), (file) =>
      file === undefined ? 0 : countComments(db, file),
    )
  }

  /** The number of comments on each commented file directly in a folder, by path as the library shows it. */
  async countIn({ info }: Library, folder: LibraryPath): Promise<Map<LibraryPath, number>> {
    const counts = await countCommentsIn(this.#options.db, info.key, inOrigin(info, folder))
    return new Map(
      Array.from(counts).flatMap(([place, n]) => {
        const path = asSeen(info, place)
        return path === undefined ? [] : [[path, n]]
      }),
    )
  }

  /** A comment that the library shows. Throws comment-not-found. */
  async get({ info }: Library, id: number): Promise<Comment> {
    const found = await findComment(this.#options.db, info.key, id)
    if (found === undefined || asSeen(info, found.path) === undefined) {
      return fail({ code: 'comment-not-found', id })
    }
    return found
  }

  /**
   * Adds a comment and notifies the participants of the file, the accounts it mentions and the owner of the library, as
   * far as they may read the file. Throws library-not-found, permission-denied, path-not-found, encrypted-mismatch,
   * limit-reached.
   */
  async add(file: FileOf, { text, detail }: { text: string; detail: string }): Promise<Comment> {
    const { now, record } = this.#options
    const { user } = file
    return this.#inFile(file, async (library, place) => {
      const recipients = await this.#recipients(library, place, text, user)
      const time = now()
      const comment = { author: user.email, text, detail, resolved: false, createdAt: time, updatedAt: time }
      return async (tx, fileKey) => {
        if ((await countComments(tx, fileKey)) >= MAX_COMMENTS) {
          fail({ code: 'limit-reached', what: 'comments-of-file', limit: MAX_COMMENTS })
        }
        await refuseLongText(tx, fileKey, comment)
        if ((await countCommentsBy(tx, user.key)) >= MAX_COMMENTS_OF_ACCOUNT) {
          fail({ code: 'limit-reached', what: 'comments-of-account', limit: MAX_COMMENTS_OF_ACCOUNT })
        }
        const id = await insertComment(tx, fileKey, { ...comment, authorKey: user.key })
        await indexComment(tx, library.info.key, { id, text })
        const mentioned = recipients.filter((one) => one.mentioned).map(({ accountKey }) => accountKey)
        await this.#addParticipants(tx, fileKey, [user.key, ...mentioned])
        const event = { library: originOf(library.info), path: place, author: user, recipients }
        await record(tx, { kind: 'comment', ...event })
        return { id, path: place, authorKey: user.key, ...comment }
      }
    })
  }

  /**
   * The author may change everything, and who may write to the library may resolve it. Throws comment-not-found,
   * permission-denied, limit-reached.
   */
  async change(library: Library, id: number, changes: CommentChanges): Promise<Comment> {
    const { db, now } = this.#options
    const { actor } = library
    const found = await this.get(library, id)
    const isAuthor = found.authorKey === actor.key
    const isOnlyResolving = changes.text === undefined && changes.detail === undefined
    if (!isAuthor && !(isOnlyResolving && library.permissionAt(found.path) === 'rw')) {
      fail({ code: 'permission-denied' })
    }
    const isEdited = changes.text !== undefined && changes.text !== found.text
    return db.write(async (tx) => {
      const current = (await findComment(tx, library.info.key, id)) ?? fail({ code: 'comment-not-found', id })
      const changed = {
        ...current,
        text: changes.text ?? current.text,
        detail: changes.detail ?? current.detail,
        resolved: changes.resolved ?? current.resolved,
        updatedAt: isEdited ? now() : current.updatedAt,
      }
      const fileKey = await findAnnotatedFile(tx, library.info.key, current.path)
      if (isLonger(changed, current) && fileKey !== undefined) await refuseLongText(tx, fileKey, changed, id)
      await updateComment(tx, changed)
      if (changed.text !== current.text) await indexComment(tx, library.info.key, changed)
      await this.#recordChange(tx, library.info, current.path, actor.email)
      return changed
    })
  }

  /** The author and the owner of the library may. Throws comment-not-found, permission-denied. */
  async remove(library: Library, id: number): Promise<void> {
    const found = await this.get(library, id)
    if (found.authorKey !== library.actor.key && !library.isOwner) fail({ code: 'permission-denied' })
    await this.#options.db.write(async (tx) => {
      await deleteComment(tx, id)
      await this.#recordChange(tx, library.info, found.path, library.actor.email)
    })
  }

  /** The participants of a file that may still read it. */
  async participants(library: Library, path: LibraryPath): Promise<Account[]> {
    const { db, accounts } = this.#options
    const place = inOrigin(library.info, path)
    const file = await findAnnotatedFile(db, library.info.key, place)
    const keys = file === undefined ? [] : await listParticipants(db, file)
    const found = [...(await accounts.findManyByKey(keys)).values()]
    const readers: Account[] = []
    for (const account of found) if (await this.#mayRead(library.info, account, place)) readers.push(account)
    return readers
  }

  /** Adds those accounts that may read the file, and returns them. Throws like add. */
  async addParticipants(file: FileOf, people: readonly Account[]): Promise<Account[]> {
    return this.#inFile(file, async ({ info }, place) => {
      const readers: Account[] = []
      for (const account of people) if (await this.#mayRead(info, account, place)) readers.push(account)
      return async (tx, fileKey) => {
        await this.#addParticipants(
          tx,
          fileKey,
          readers.map(({ key }) => key),
        )
        return readers
      }
    })
  }

  /** Accounts may remove themselves; the owner of the library may remove all. Throws permission-denied. */
  async removeParticipant(library: Library, path: LibraryPath, account: Account): Promise<void> {
    const { db } = this.#options
    if (account.key !== library.actor.key && !library.isOwner) fail({ code: 'permission-denied' })
    const file = await findAnnotatedFile(db, library.info.key, inOrigin(library.info, path))
    if (file !== undefined) await db.write((tx) => deleteParticipant(tx, file, account.key))
  }

  /** Throws encrypted-mismatch. */
  async #inFile<T>(
    file: FileOf,
    prepare: (
      library: Library,
      place: LibraryPath,
    ) => Promise<(tx: Transaction, fileKey: number) => Promise<T>>,
  ): Promise<T> {
    return writeBound(this.#options, file, (library, place) => {
      if (library.info.encryption !== undefined) fail({ code: 'encrypted-mismatch' })
      return prepare(library, place)
    })
  }

  async #addParticipants(tx: Transaction, fileKey: number, accountKeys: readonly number[]): Promise<void> {
    const known = await listParticipants(tx, fileKey)
    const added = accountKeys.filter((key) => !known.includes(key))
    await insertParticipants(tx, fileKey, added.slice(0, MAX_PARTICIPANTS - known.length))
  }

  async #recipients(
    library: Library,
    place: LibraryPath,
    text: string,
    author: Account,
  ): Promise<CommentRecipient[]> {
    const { db, accounts } = this.#options
    const { info } = library
    const mentioned = [...(await accounts.findMany(mentionsIn(text))).values()].map(({ key }) => key)
    const file = await findAnnotatedFile(db, info.key, place)
    const participants = file === undefined ? [] : await listParticipants(db, file)
    const keys = new Set([...mentioned, ...participants, info.ownerKey])
    keys.delete(author.key)
    const recipients: CommentRecipient[] = []
    for (const account of (await accounts.findManyByKey(keys)).values()) {
      const seen = await this.#seenBy(info, account, place)
      if (seen === undefined) continue
      recipients.push({ ...seen, accountKey: account.key, mentioned: mentioned.includes(account.key) })
    }
    return recipients
  }

  async #mayRead(info: LibraryInfo, account: Account, place: LibraryPath): Promise<boolean> {
    return (await this.#seenBy(info, account, place)) !== undefined
  }

  /** The library through which an account reads a file, and the path there; undefined if it may not read it. */
  async #seenBy(
    info: LibraryInfo,
    account: Account,
    place: LibraryPath,
  ): Promise<Pick<CommentRecipient, 'library' | 'path'> | undefined> {
    const { access } = this.#options
    const { permission, openAs } = await access.explain(originOf(info), account, place)
    if (permission === undefined || openAs === undefined) return undefined
    const library = (await access.openAll(account, [openAs])).get(openAs)
    const path = library && asSeen(library.info, place)
    return library && path && { library: { id: library.info.id, name: library.info.name }, path }
  }

  #recordChange(tx: Transaction, info: LibraryInfo, path: LibraryPath, email: string): Promise<void> {
    const author = { email }
    return this.#options.record(tx, {
      kind: 'comment',
      library: originOf(info),
      path,
      author,
      recipients: [],
    })
  }
}

type Texts = Pick<Comment, 'text' | 'detail'>

const charactersOf = ({ text, detail }: Texts) => text.length + detail.length
const isLonger = (one: Texts, other: Texts) => charactersOf(one) > charactersOf(other)

/** Throws limit-reached if a new comment, or a longer one in place of `id`, exceeds what a file may have. */
async function refuseLongText(tx: Transaction, fileKey: number, texts: Texts, id?: number): Promise<void> {
  if ((await countCharacters(tx, fileKey, id)) + charactersOf(texts) <= MAX_COMMENT_TEXT) return
  fail({ code: 'limit-reached', what: 'comment-text', limit: MAX_COMMENT_TEXT })
}
