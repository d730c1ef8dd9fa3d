import { openAsAdministrator } from '../../access/index.ts'
import { jsonResponse } from '../../http/index.ts'
import { emailAsShown, isAdmin, unknownPerson } from '../../identity/index.ts'
import type { UsageBytes } from '../../usage/index.ts'
import { pageInfo } from '../admin/admin-wire.ts'
import { pageQuery } from '../common/paging.ts'
import { libraryIdParam } from '../common/readers.ts'
import { isoTime } from '../common/wire-formats.ts'
import { route } from '../services.ts'

const MAX_WAIT_MS = 5000

export const usageRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/usage/',
    auth: 'user',
    scope: 'none',
    summary:
      'Returns the stored bytes of a library by purpose; 202 while they are counted for the first time.',
    params: { repo_id: libraryIdParam },
    async handle({ user, params }, { access, core, usage }) {
      const { info } = isAdmin(user)
        ? await openAsAdministrator(core, user, params.repo_id)
        : await access.openOwned(user, params.repo_id)
      const known = await usage.of(info, { waitMs: MAX_WAIT_MS })
      const shown = { repo_id: info.id, is_current: known.isCurrent }
      if (known.usage === undefined) return jsonResponse(202, shown, { 'Retry-After': '5' })
      const { blocks, computedAt } = known.usage
      return { ...shown, ...bytesToWire(known.usage), blocks, computed_at: isoTime(computedAt) }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/admin/usage/',
    auth: 'admin',
    summary: 'Returns the stored bytes of accounts by purpose, largest first.',
    query: pageQuery(100),
    async handle({ query }, { directory, statistics, usage }) {
      const { page, per_page: perPage } = query
      const { accounts, more } = await usage.accounts({ page, perPage })
      const people = await directory.people(accounts.map(({ email }) => emailAsShown(email)))
      const [bytes, blocks] = await Promise.all([
        statistics.latest('stored-bytes'),
        statistics.latest('stored-blocks'),
      ])
      return {
        page_info: pageInfo(page, more),
        stored: bytes && { bytes: bytes.value, blocks: blocks?.value ?? 0, day: isoTime(bytes.day) },
        accounts: accounts.map((account) => {
          const email = emailAsShown(account.email)
          return {
            email,
            name: (people.get(email) ?? unknownPerson(email)).name,
            repos_count: account.libraries,
            file_size: account.fileSize,
            ...bytesToWire(account),
            deleted: account.deleted,
            uncounted_repos: account.uncounted,
          }
        }),
      }
    },
  }),
]

function bytesToWire({ current, trash, history, unreferenced, shared }: UsageBytes) {
  const total = current + trash + history + unreferenced
  return { current, trash, history, unreferenced, shared, total }
}
