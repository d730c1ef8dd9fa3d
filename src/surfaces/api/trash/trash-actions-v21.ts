import { type LibraryId, parseLibraryId } from '../../../base/objects/index.ts'
import { ROOT } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { restoreEntries } from '../../../libraries/edits/index.ts'
import {
  LibraryHistory,
  type MergedActionsCursor,
  type TrashAction,
  type TrashRow,
  type TrashSearch,
} from '../../../libraries/history/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import { type Account, type Directory, type Person, unknownPerson } from '../../../people/accounts/index.ts'
import { integer, list, optional, type Reader, type Values } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { avatarUrl } from '../accounts/account-wire.ts'
import { BATCH_BODY_BYTES, libraryIdParam, sentPathOrRoot } from '../common/readers.ts'
import { folderAt } from '../common/resolve-path.ts'
import { isoTime } from '../common/wire-formats.ts'
import { deleted } from './library-trash.schema.ts'
import { route, type TrashServices } from './services.ts'
import { sentAction, trashName } from './trash-input.ts'
import { restoreFailure, trashItem } from './trash-wire.ts'

const ACTIONS_PER_PAGE = 25
const ROWS_PER_QUERY = 1000
/** Entries that one call restores. */
const MAX_RESTORED = 10_000

const action = {
  action: kinds.text('Names the action in other calls: the numbers of its first and last commit.'),
  deleted_time: kinds.isoTime,
  deleted_by: kinds.account,
  deleted_by_name: kinds.displayName,
  avatar_url: kinds.url,
  files: kinds.count('The number of files that it deleted and that do not exist again.'),
  folders: kinds.count('As `files`, of folders. What was in a folder is not counted.'),
  items: kinds.array(kinds.object(deleted), { description: 'The first of them.', maxItems: 5 }),
}

/** A commit, or 0. */
const before = integer({ default: 0, min: 0 })

const mergedCursor: Reader<MergedActionsCursor | undefined> = (fields, name) => {
  const sent = fields.text(name)
  if (!sent) return undefined
  const [, deletedAt, library = '', seq] = /^(\d{1,15})_([0-9a-f-]{36})_(\d{1,15})$/.exec(sent) ?? []
  const libraryId = parseLibraryId(library)
  if (libraryId === undefined) throw errorMessage(400, `${name} invalid.`)
  return { deletedAt: Number(deletedAt), libraryId, before: Number(seq) }
}

/** Paths; undefined if none were sent. */
const paths = optional(list())
const restoreBody = { action: sentAction, path: sentPathOrRoot, q: trashName, only: paths, except: paths }

export const trashActionRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/trash2/actions/',
    auth: 'user',
    summary:
      'Lists what was deleted at once, latest first. The commits of one person within seconds are one action.',
    compatibility: 'addition',
    callers: 'readers',
    params: { repo_id: libraryIdParam },
    query: { path: sentPathOrRoot, q: trashName, before },
    responses: () => ({
      200: json(
        kinds.record('TrashActions', {
          actions: kinds.array(kinds.object(action)),
          next: kinds.orNull(kinds.integer('The `before` of the next page.')),
        }),
        'A page of actions.',
      ),
    }),
    details: () => ({
      parameters: {
        path: { description: 'Only what was deleted below this folder.' },
        q: { description: 'Only entries with this in their names.' },
        before: { description: 'The `next` of the previous response, for the next page.' },
      },
    }),
    async handle({ user, params, query, request }, { access, directory }) {
      const library = await access.open(user, params.repo_id)
      const { path: folder } = await folderAt(library, query.path)
      const { actions, more } = await library.history.listTrashActions({
        folder,
        name: query.q,
        before: query.before || undefined,
        limit: ACTIONS_PER_PAGE,
      })
      const people = await peopleOf(directory, actions)
      return {
        actions: actions.map((one) => actionToWire(one, people, request.baseUrl)),
        next: more ? (actions.at(-1)?.firstSeq ?? null) : null,
      }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/trash/actions/',
    auth: 'user',
    summary: 'Lists what was deleted at once in all libraries the caller can open, latest first.',
    compatibility: 'addition',
    callers: 'every account',
    query: { cursor: mergedCursor, q: trashName },
    responses: () => ({
      200: json(
        kinds.record('MergedTrashActions', {
          actions: kinds.array(
            kinds.object({
              ...action,
              repo_id: kinds.libraryId,
              repo_name: kinds.text('The name of the library.'),
              can_restore: kinds.flag('Whether the caller may restore it.'),
            }),
          ),
          next_cursor: kinds.orNull(kinds.text('Where the next page begins.')),
        }),
        'A page of actions.',
      ),
    }),
    async handle({ user, query, request }, { access, directory }) {
      const openable = await access.listOpenable(user)
      const writable = new Set(
        openable.filter(({ permission }) => permission === 'rw').map(({ info }) => info.id),
      )
      const page = { cursor: query.cursor, name: query.q, limit: ACTIONS_PER_PAGE }
      const { items, next } = await LibraryHistory.mergedTrashActions(
        openable.map(({ history }) => history),
        page,
      )
      const people = await peopleOf(
        directory,
        items.map((item) => item.action),
      )
      return {
        actions: items.map((item) => ({
          ...actionToWire(item.action, people, request.baseUrl),
          repo_id: item.library.id,
          repo_name: item.library.name,
          can_restore: writable.has(item.library.id),
        })),
        next_cursor: next ? [next.deletedAt, next.libraryId, next.before].join('_') : null,
      }
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/repos/:repo_id/trash2/actions/revert/',
    auth: 'user',
    summary: 'Restores what an action deleted, or some of it, with one commit.',
    compatibility: 'addition',
    params: { repo_id: libraryIdParam },
    body: restoreBody,
    bodyLimit: BATCH_BODY_BYTES,
    responses: () => ({
      200: json(
        kinds.record('RestoredAction', {
          success: kinds.array(
            kinds.object({
              path: kinds.path,
              restored_path: kinds.text(
                'Where it is now. It differs from `path` if something else has its name.',
              ),
              is_dir: kinds.flag(),
              obj_id: kinds.objectId,
            }),
          ),
          failed: kinds.array(kinds.object({ path: kinds.path, error_msg: kinds.text('Why it failed.') })),
          left: kinds.count(
            `The number of entries that remain for another call: one restores at most ${MAX_RESTORED}.`,
          ),
        }),
        'The result for each entry.',
      ),
    }),
    details: () => ({
      errors: [443],
      parameters: {
        action: { description: 'An action, as a listing named it.' },
        path: { description: 'The folder of the listing.' },
        q: { description: 'The name of the listing.' },
        only: { description: 'Restores these paths and no others.' },
        except: { description: 'Does not restore these paths.' },
      },
    }),
    handle: ({ user, params, body }, services) => restoreAction(services, user, params.repo_id, body),
  }),
]

async function restoreAction(
  { access, core, quotas }: TrashServices,
  user: Account,
  id: LibraryId,
  sent: Values<typeof restoreBody>,
) {
  const opened = await access.open(user, id)
  const library = opened.editable(ROOT)
  const { path: folder } = await folderAt(opened, sent.path)
  const found = await listAction(opened, { ...sent.action, folder, name: sent.q })
  const only = sent.only && new Set<string>(sent.only)
  const except = new Set<string>(sent.except)
  const chosen = found.filter(({ path }) => (only?.has(path) ?? true) && !except.has(path))
  const now = chosen.slice(0, MAX_RESTORED)
  const wanted = now.map(({ commitBefore, path }) => ({ commitId: commitBefore, path }))
  const outcomes = await restoreEntries(core, library, wanted, (info) => quotas.roomLeft(info))
  const success: { path: string; restored_path: string; is_dir: boolean; obj_id: string }[] = []
  const gone = new Set(only)
  for (const { path } of chosen) gone.delete(path)
  const failed = Array.from(gone, (path) => ({ path, error_msg: `Dirent ${path} not found.` }))
  for (const [index, { path, objectId }] of now.entries()) {
    const outcome = outcomes[index]
    if (outcome === undefined) continue
    if ('fault' in outcome) failed.push({ path, error_msg: restoreFailure(outcome.fault, path) })
    else success.push({ path, restored_path: outcome.path, is_dir: outcome.kind === 'dir', obj_id: objectId })
  }
  return { success, failed, left: chosen.length - now.length }
}

/** All entries of an action. */
async function listAction({ history }: Library, search: TrashSearch): Promise<TrashRow[]> {
  const found: TrashRow[] = []
  for (;;) {
    const last = found.at(-1)
    const cursor = last && { seq: last.seq, position: last.position }
    const rows = await history.listTrashOfAction(search, { cursor, limit: ROWS_PER_QUERY })
    found.push(...rows)
    if (rows.length < ROWS_PER_QUERY) return found
  }
}

function peopleOf(directory: Directory, actions: readonly TrashAction[]): Promise<Map<string, Person>> {
  return directory.people(actions.map(({ deletedBy }) => deletedBy))
}

function actionToWire(one: TrashAction, people: ReadonlyMap<string, Person>, baseUrl: string) {
  const person = people.get(one.deletedBy) ?? unknownPerson(one.deletedBy)
  return {
    action: `${one.firstSeq}-${one.lastSeq}`,
    deleted_time: isoTime(one.deletedAt),
    deleted_by: person.email,
    deleted_by_name: person.name,
    avatar_url: avatarUrl(baseUrl, person),
    files: one.files,
    folders: one.folders,
    items: one.items.map(trashItem),
  }
}
