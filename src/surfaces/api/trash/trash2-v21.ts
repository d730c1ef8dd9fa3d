import { type CommitId, type LibraryId, parseCommitId } from '../../../base/objects/index.ts'
import { type LibraryPath, parsePath, ROOT } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { restoreEntries } from '../../../libraries/edits/index.ts'
import type { CommitRange, TrashSearch } from '../../../libraries/history/index.ts'
import type { Account } from '../../../people/accounts/index.ts'
import { accepting, list, map, optional, type Reader, rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { readPage } from '../common/paging.ts'
import { parseInteger, parseText, parseTime } from '../common/parse-values.ts'
import { BATCH_BODY_BYTES, libraryIdParam, type SentPath, sentPathOrRoot } from '../common/readers.ts'
import { folderAt } from '../common/resolve-path.ts'
import { numberedPage, restored } from './library-trash.schema.ts'
import { route, type TrashServices } from './services.ts'
import { sentAction, trashName } from './trash-input.ts'
import { restoreFailure, trashItem } from './trash-wire.ts'

const MAX_WORDS = 100

const params = { repo_id: libraryIdParam }
const paging = { page: rawText(), per_page: rawText() }
const within = { path: sentPathOrRoot, action: optional(sentAction) }
const withinParameters = {
  path: { description: 'Only what was deleted below this folder.' },
  action: { description: 'Only what this action deleted, as a list of actions named it.' },
}

/** An entry to restore, as sent. */
interface Sent {
  readonly commitId: CommitId
  /** Undefined for an invalid path. */
  readonly path: LibraryPath | undefined
  readonly text: string
}

/** Comma-separated values; undefined if there are none. */
const words: Reader<string[] | undefined> = accepting(
  { type: 'string', description: 'Words, separated by commas.' },
  (fields, name) => {
    const sent = (fields.text(name) ?? '').split(',').map((word) => word.trim().toLowerCase())
    const found = [...new Set(sent)].filter((word) => word !== '')
    if (found.length > MAX_WORDS || found.some((word) => parseText(word) === undefined))
      throw errorMessage(400, `${name} invalid.`)
    return found.length === 0 ? undefined : found
  },
)

/** A time in Unix seconds or as ISO 8601. */
const time = (dayEnds: boolean): Reader<number | undefined> => {
  return (fields, name) => {
    const sent = fields.text(name)
    if (!sent) return undefined
    const seconds = parseInteger(sent) ?? parseTime(sent, { dayEnds })
    if (seconds === undefined) throw errorMessage(400, `${name} invalid.`)
    return seconds
  }
}

/** Paths by the commit they are restored from. The body is an object of lists. */
const pathsByCommit: Reader<Sent[]> = (fields) => {
  const commits = fields.names()
  if (commits.length === 0) throw errorMessage(400, 'commit_id invalid.')
  return commits.flatMap((commit) => {
    const commitId = parseCommitId(commit)
    if (commitId === undefined) throw errorMessage(400, 'commit_id invalid.')
    const paths = list({ nonEmpty: true, message: 'path invalid.' })(fields, commit)
    return toSent(commitId, paths)
  })
}

export const trash2Routes = [
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/trash2/',
    auth: 'user',
    summary: 'Lists deleted entries page by page, latest first.',
    compatibility: { result: 'different', note: 'A folder has the size 0.' },
    callers: 'readers',
    params,
    query: { ...paging, ...within },
    responses: () => ({
      200: json(numberedPage, 'A page of deleted entries.'),
    }),
    details: () => ({ parameters: withinParameters }),
    handle: ({ user, params, query }, services) =>
      trashPage(services, user, params.repo_id, query, {}, readPage(query, 100, { lenient: true })),
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/trash2/search/',
    auth: 'user',
    summary: 'Searches deleted entries by name, account, time and extension.',
    compatibility: 'supported',
    callers: 'readers',
    sample: { query: { q: 'gone' } },
    params,
    query: {
      ...paging,
      ...within,
      q: trashName,
      op_users: words,
      suffixes: words,
      time_from: time(false),
      time_to: time(true),
    },
    responses: () => ({
      200: json(numberedPage, 'A page of deleted entries that match.'),
    }),
    details: () => ({ parameters: withinParameters }),
    handle({ user, params, query }, services) {
      const search: TrashSearch = {
        name: query.q,
        from: query.time_from,
        to: query.time_to,
        ...(query.op_users && { deletedBy: query.op_users }),
        ...(query.suffixes && { extensions: query.suffixes.map((suffix) => suffix.replace(/^\.+/, '')) }),
      }
      const page = readPage(query, 20, { lenient: true })
      return trashPage(services, user, params.repo_id, query, search, page)
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/repos/:repo_id/trash2/revert/',
    auth: 'user',
    summary: 'Restores deleted entries from several commits.',
    compatibility: 'supported',
    params,
    body: { paths: pathsByCommit },
    bodyLimit: BATCH_BODY_BYTES,
    responses: () => ({
      200: json(
        kinds.record('RestoredFromCommits', {
          success: restored,
          failed: kinds.array(
            kinds.object({
              commit_id: kinds.objectId,
              path: kinds.path,
              error_msg: kinds.text('Why it failed.'),
            }),
          ),
        }),
        'The result for each path.',
      ),
    }),
    details: () => ({
      errors: [443],
      body: kinds.mapOf(
        kinds.array(kinds.path),
        'The paths to restore, by the id of the commit that still has them.',
      ),
    }),
    async handle({ user, params, body }, services) {
      const { success, failed } = await bringBack(services, user, params.repo_id, body.paths)
      return {
        success,
        failed: failed.map(({ path, commitId, error_msg }) => ({ commit_id: commitId, path, error_msg })),
      }
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/repos/:repo_id/trash/revert-dirents/',
    auth: 'user',
    summary: 'Restores deleted entries from one commit.',
    compatibility: 'supported',
    params,
    body: {
      path: list({ nonEmpty: true }),
      commit_id: map(rawText(), (sent) => parseCommitId(sent ?? '')),
    },
    bodyLimit: BATCH_BODY_BYTES,
    responses: () => ({
      200: json(
        kinds.record('Restored', {
          success: restored,
          failed: kinds.array(kinds.object({ path: kinds.path, error_msg: kinds.text('Why it failed.') })),
        }),
        'The result for each path.',
      ),
    }),
    details: () => ({ errors: [443] }),
    async handle({ user, params, body }, services) {
      const sent = toSent(body.commit_id, body.path)
      const { success, failed } = await bringBack(services, user, params.repo_id, sent)
      return { success, failed: failed.map(({ path, error_msg }) => ({ path, error_msg })) }
    },
  }),
]

async function trashPage(
  { access }: TrashServices,
  user: Account,
  id: LibraryId,
  within: { readonly path: SentPath; readonly action: CommitRange | undefined },
  search: TrashSearch,
  page: { page: number; perPage: number },
) {
  const library = await access.open(user, id)
  const { history } = library
  const { path: folder } = await folderAt(library, within.path)
  const { items, total } = await history.findTrash({ ...search, ...within.action, folder }, page)
  return { items: items.map(trashItem), total_count: total, can_search: history.keepDays() !== 0 }
}

async function bringBack(
  { access, core, quotas }: TrashServices,
  user: Account,
  id: LibraryId,
  sent: readonly Sent[],
) {
  const library = (await access.open(user, id)).editable(ROOT)
  const outcomes = await restoreEntries(core, library, sent, (info) => quotas.roomLeft(info))
  const success: { path: string; is_dir: boolean }[] = []
  const failed: { path: string; commitId: CommitId; error_msg: string }[] = []
  for (const [index, outcome] of outcomes.entries()) {
    const one = sent[index]
    if (one === undefined) continue
    const { text: path, commitId } = one
    if ('fault' in outcome) failed.push({ path, commitId, error_msg: restoreFailure(outcome.fault, path) })
    else success.push({ path, is_dir: outcome.kind === 'dir' })
  }
  return { success, failed }
}

function toSent(commitId: CommitId, paths: readonly string[]): Sent[] {
  if (paths.includes('')) throw errorMessage(400, 'path invalid.')
  return paths.map((text) => ({ commitId, text, path: parsePath(text) }))
}
