import { chosenSizes, latency, measureCurve } from '../curve.ts'
import type { Scenario } from '../scenario.ts'

const SIZES = [10, 100, 1000, 10_000, 100_000]
const A_PAGE = 100
const PASSWORD = 'a password of all accounts'

/** How costs grow with the number of accounts. */
export const curveAccounts: Scenario = {
  name: 'curve-accounts',
  async run(context) {
    await using workspace = await context.workspace()
    return await measureCurve(context, workspace, {
      title: 'Number of accounts',
      of: 'accounts',
      sizes: chosenSizes(context, SIZES, 1000),
      grow: (size, before) =>
        workspace.prepare((builder) => builder.addAccounts(before, size, 'user', PASSWORD)),
      async measure(server, size) {
        const common = {
          connections: 1,
          warmUp: { count: context.size(5, 1) },
          measured: { count: context.size(50, 3) },
        }
        const get = (path: string) => server.load({ ...common, request: { method: 'GET', path } })
        const signIn = {
          method: 'POST',
          path: '/api2/auth-token/',
          form: `username=user-{n*7919%${size}}%40example.org&password=${PASSWORD.replaceAll(' ', '+')}`,
          anonymous: true,
        } as const
        const list = `/api/v2.1/admin/users/?per_page=${A_PAGE}&page=`
        return [
          latency('sign in', await server.load({ ...common, request: signIn })),
          latency('first page of the list', await get(`${list}1`)),
          latency('last page of the list', await get(`${list}${Math.ceil(size / A_PAGE)}`)),
          latency('search for a user', await get(`/api2/search-user/?q=er-{n*7919%${size}}`)),
        ]
      },
    })
  },
}
