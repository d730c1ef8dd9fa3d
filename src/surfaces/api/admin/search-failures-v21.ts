import { json, kinds } from '../../../base/schemas/index.ts'
import { integer } from '../../../platform/input/index.ts'
import { statusRoute as route } from './services.ts'

const MAX_PER_REQUEST = 1000

export const adminSearchRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/admin/search-failures/',
    auth: 'admin',
    summary: 'Lists the files whose text could not be extracted, with the reasons.',
    compatibility: 'addition',
    callers: 'administrators',
    query: {
      page: integer({ default: 1, min: 1, max: 1_000_000, lenient: true }),
      per_page: integer({ default: 100, min: 1, max: MAX_PER_REQUEST, lenient: true }),
    },
    responses: () => ({
      200: json(
        kinds.record('SearchFailures', {
          total_count: kinds.count('The number of files on all pages.'),
          search_failure_list: kinds.array(
            kinds.object({
              repo_id: kinds.text('The id of a library with the file, or empty.'),
              repo_name: kinds.text('The name of that library, or empty.'),
              path: kinds.text('The path of the file, or empty.'),
              reason: kinds.text('Why its text could not be extracted.'),
              attempts: kinds.count('The number of attempts.'),
            }),
          ),
        }),
        'A page of files.',
      ),
    }),
    async handle({ query: { page, per_page } }, { search }) {
      const { total, unread } = await search.listUnread((page - 1) * per_page, per_page)
      return {
        total_count: total,
        search_failure_list: unread.map(({ library, path, reason, attempts }) => ({
          repo_id: library?.id ?? '',
          repo_name: library?.name ?? '',
          path,
          reason,
          attempts,
        })),
      }
    },
  }),
]
