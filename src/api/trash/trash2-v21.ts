import type { Fault } from '../../errors.ts'
import { type TrashSearch } from '../../history/index.ts'
import { errorMessage, type FaultResponse, list, map, type Reader, rawText } from '../../http/index.ts'
import type { Account } from '../../identity/index.ts'
import { restoreEntries, type Wanted } from '../../library/index.ts'
import { type CommitId, type LibraryId, parseCommitId, parsePath, ROOT } from '../../objects/index.ts'
import { readPage } from '../common/paging.ts'
import { parseTime } from '../common/parse-time.ts'
import { parseWhole } from '../common/parse-values.ts'
import { libraryIdParam } from '../common/readers.ts'
import { apiFaults } from '../faults.ts'
import { type ApiServices, route } from '../services.ts'
import { trashItem } from './trash-wire.ts'

const MOST_WORDS = 100
// As many paths as a batch call names.
const RESTORE_BODY_BYTES = 8 * 2 ** 20

const params = { repo_id: libraryIdParam }
const paging = { page: rawText(), per_page: rawText() }

/** Something to be put back, as it was sent. */
interface Sent extends Wanted {
  readonly text: string
}

/** Words with commas between them; undefined if there are none. */
const words: Reader<string[] | undefined> = (fields, name) => {
  const sent = (fields.text(name) ?? '').split(',').map((word) => word.trim().toLowerCase())
  const found = [...new Set(sent)].filter((word) => word !== '')
  if (found.length > MOST_WORDS || !found.every(isStorable)) throw errorMessage(400, `${name} invalid.`)
  return found.length === 0 ? undefined : found
}

/** A time in Unix seconds or as ISO 8601. */
const time = (dayEnds: boolean): Reader<number | undefined> => {
  return (fields, name) => {
    const sent = fields.text(name)
    if (!sent) return undefined
    const seconds = parseWhole(sent) ?? parseTime(sent, { dayEnds })
    if (seconds === undefined) throw errorMessage(400, `${name} invalid.`)
    return seconds
  }
}

/** Paths by the commits they are to be taken from: the body is nothing but names and lists. */
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
    summary: 'Lists what was deleted page by page, latest first.',
    params,
    query: paging,
    handle: ({ user, params, query }, services) =>
      trashPage(services, user, params.repo_id, {}, readPage(query, 100, { lenient: true })),
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/trash2/search/',
    auth: 'user',
    summary: 'Searches what was deleted by name, account, time and extension.',
    params,
    query: {
      ...paging,
      q: rawText(),
      op_users: words,
      suffixes: words,
      time_from: time(false),
      time_to: time(true),
    },
    handle({ user, params, query }, services) {
      if (query.q !== undefined && !isStorable(query.q)) throw errorMessage(400, 'q invalid.')
      const search: TrashSearch = {
        name: query.q?.trim(),
        from: query.time_from,
        to: query.time_to,
        ...(query.op_users && { deletedBy: query.op_users }),
        ...(query.suffixes && { extensions: query.suffixes.map((suffix) => suffix.replace(/^\.+/, '')) }),
      }
      return trashPage(services, user, params.repo_id, search, readPage(query, 20, { lenient: true }))
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/repos/:repo_id/trash2/revert/',
    auth: 'user',
    summary: 'Brings back what was deleted, from several commits.',
    params,
    body: { paths: pathsByCommit },
    bodyLimit: RESTORE_BODY_BYTES,
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
    summary: 'Brings back what was deleted, from one commit.',
    params,
    body: {
      path: list({ nonEmpty: true }),
      commit_id: map(rawText(), (sent) => parseCommitId(sent ?? '')),
    },
    bodyLimit: RESTORE_BODY_BYTES,
    async handle({ user, params, body }, services) {
      const sent = toSent(body.commit_id, body.path)
      const { success, failed } = await bringBack(services, user, params.repo_id, sent)
      return { success, failed: failed.map(({ path, error_msg }) => ({ path, error_msg })) }
    },
  }),
]

async function trashPage(
  { access, core }: ApiServices,
  user: Account,
  id: LibraryId,
  search: TrashSearch,
  page: { page: number; perPage: number },
) {
  const { info } = await access.open(user, id)
  const { items, total } = await core.history.findTrash(info, search, page)
  return { items: items.map(trashItem), total_count: total, can_search: core.history.keepDays(info) !== 0 }
}

async function bringBack(
  { access, core, quotas }: ApiServices,
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
    if ('fault' in outcome) failed.push({ path, commitId, error_msg: failureText(outcome.fault, path) })
    else success.push({ path, is_dir: outcome.kind === 'dir' })
  }
  return { success, failed }
}

function toSent(commitId: CommitId, paths: readonly string[]): Sent[] {
  if (paths.includes('')) throw errorMessage(400, 'path invalid.')
  return paths.map((text) => ({ commitId, text, path: parsePath(text) }))
}

/** A commit that is not there has nothing to bring back. */
function failureText(fault: Fault, path: string): string {
  const isMissing = fault.code === 'path-not-found' && fault.wanted === 'Item'
  if (isMissing || fault.code === 'commit-not-found') return `Dirent ${path} not found.`
  // The entry under a fault's code takes just that fault; the compiler cannot pair them through a union.
  const word = apiFaults[fault.code] as (fault: Fault) => FaultResponse
  return word(fault)[1]
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
