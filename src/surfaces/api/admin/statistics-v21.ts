import { json, kinds } from '../../../base/schemas/index.ts'
import { optionalText, type Reader } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { parseTime } from '../common/parse-values.ts'
import { isoTime } from '../common/wire-formats.ts'
import { countOfDay, days as daysDescribed } from './server.schema.ts'
import { statusRoute as route, type StatusServices } from './services.ts'

const DAY = 86_400
const DEFAULT_DAYS = 30

/** A time as ISO 8601, as `2026-07-01 00:00:00` too; undefined when nothing was sent. */
const time: Reader<number | undefined> = (fields, name) => {
  const sent = optionalText()(fields, name)
  if (!sent) return undefined
  const at = parseTime(sent)
  if (at === undefined) throw errorMessage(400, `${name} invalid.`)
  return at
}

const query = { start: time, end: time }

async function days(
  { statistics, now }: StatusServices,
  name: 'storage' | 'files' | 'active-accounts',
  { start, end = now() }: { start: number | undefined; end: number | undefined },
) {
  const from = start ?? end - DEFAULT_DAYS * DAY
  const found = await statistics.list(name, Math.max(0, from), end)
  return found.map(({ day, value }) => ({ datetime: isoTime(day), value }))
}

export const adminStatisticRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/admin/sysinfo/',
    auth: 'admin',
    summary:
      'Returns the number of accounts, groups, libraries, files, their size and the number of devices.',
    compatibility: 'supported',
    callers: 'administrators',
    responses: () => ({
      200: json(
        kinds.record('ServerTotals', {
          users_count: kinds.count('The number of accounts.'),
          active_users_count: kinds.count('The number of accounts that can sign in.'),
          groups_count: kinds.count('The number of groups.'),
          repos_count: kinds.count('The number of libraries.'),
          total_files_count: kinds.count('The number of files.'),
          total_storage: kinds.count('The size of all files in bytes.'),
          total_devices_count: kinds.count('The number of devices.'),
          current_connected_devices_count: kinds.count(
            'The number of devices that were used in the last day.',
          ),
        }),
        'The totals.',
      ),
    }),
    async handle(_input, { statistics }) {
      const numbers = await statistics.now()
      return {
        users_count: numbers.accounts,
        active_users_count: numbers.activeAccounts,
        groups_count: numbers.groups,
        repos_count: numbers.libraries,
        total_files_count: numbers.files,
        total_storage: numbers.size,
        total_devices_count: numbers.devices,
        current_connected_devices_count: numbers.recentDevices,
      }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/admin/statistics/total-storage/',
    auth: 'admin',
    summary: 'Returns the file size of all libraries per day.',
    compatibility: 'supported',
    callers: 'administrators',
    sample: { query: { start: '2026-01-01', end: '2026-01-02' } },
    query,
    responses: () => ({
      200: json(
        kinds.array(
          kinds.record('StorageOfDay', {
            datetime: kinds.isoTime,
            total_storage: kinds.count('The size of all files in bytes.'),
          }),
        ),
        'The days.',
      ),
    }),
    details: () => ({ parameters: daysDescribed }),
    async handle({ query }, services) {
      const found = await days(services, 'storage', query)
      return found.map(({ datetime, value }) => ({ datetime, total_storage: value }))
    },
  }),
  counted('total-files', 'files', 'Returns the number of files per day.'),
  counted('active-users', 'active-accounts', 'Returns the number of active accounts per day.'),
]

/** A number of each day. */
function counted(name: string, series: 'files' | 'active-accounts', summary: string) {
  return route({
    method: 'GET',
    path: `/api/v2.1/admin/statistics/${name}/`,
    auth: 'admin',
    summary,
    compatibility: 'supported',
    callers: 'administrators',
    sample: { query: { start: '2026-01-01', end: '2026-01-02' } },
    query,
    responses: () => ({ 200: json(kinds.array(countOfDay), 'The days.') }),
    details: () => ({ parameters: daysDescribed }),
    async handle({ query }, services) {
      const found = await days(services, series, query)
      return found.map(({ datetime, value }) => ({ datetime, count: value }))
    },
  })
}
