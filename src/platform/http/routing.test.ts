import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { required } from '../input/readers.ts'
import { type Policy, routesFor } from './route.ts'
import { checkRoutes, MethodTable } from './routing.ts'

const route = routesFor<string, unknown>()
const common = { auth: 'none', summary: 'A test.', handle: () => 'ok' } as const

describe('a route', () => {
  it('without a policy neither compiles nor starts', () => {
    // @ts-expect-error auth is missing
    const open = route({ method: 'GET', path: '/a/', summary: 'Open by mistake.', handle: () => 'ok' })
    assert.throws(() => checkRoutes([open]), /^Error: GET \/a\/ does not say who may call it\.$/)
    const odd = route({ ...common, method: 'GET', path: '/a/', auth: 'everyone' as Policy })
    assert.throws(() => checkRoutes([odd]), /does not say who may call it/)
  })

  it('must read every segment of its path and no other', () => {
    const params = { id: required() }
    checkRoutes([route({ ...common, method: 'GET', path: '/a/:id/', params })])
    assert.throws(
      () => checkRoutes([route({ ...common, method: 'GET', path: '/a/:id/' })]),
      /segments in its path: id/,
    )
    assert.throws(
      () => checkRoutes([route({ ...common, method: 'GET', path: '/a/:name/', params })]),
      /segments in its path: name/,
    )
    assert.throws(
      () => checkRoutes([route({ ...common, method: 'GET', path: '/a/', params })]),
      /in its path: none/,
    )
  })

  it('cannot be declared twice, not even with other names or without its slash', () => {
    const one = route({ ...common, method: 'GET', path: '/a/:id/', params: { id: required() } })
    const other = route({ ...common, method: 'GET', path: '/a/:name', params: { name: required() } })
    assert.throws(() => checkRoutes([one, other]), /GET \/a\/:name is declared twice/)
    checkRoutes([one, route({ ...common, method: 'PUT', path: '/a/:id/', params: { id: required() } })])
  })

  it('must have a path the router takes literally', () => {
    for (const path of ['a/', '/a/*', '/a(b)', '/a?b', '/ä']) {
      assert.throws(() => checkRoutes([route({ ...common, method: 'GET', path })]), /not a path we can serve/)
    }
  })

  it('is throttled by account where a token is needed, unless it says otherwise', () => {
    assert.equal(route({ ...common, method: 'GET', path: '/a/' }).limit, 'none')
    assert.equal(route({ ...common, method: 'GET', path: '/a/', auth: 'user' }).limit, 'user')
    assert.equal(route({ ...common, method: 'GET', path: '/a/', auth: 'admin' }).limit, 'user')
    assert.equal(route({ ...common, method: 'GET', path: '/a/', auth: 'user', limit: 'ping' }).limit, 'ping')
  })

  it('knows the types of what it reads', () => {
    route({
      ...common,
      method: 'POST',
      path: '/a/:id/',
      auth: 'user',
      params: { id: required() },
      body: 'raw',
      handle({ user, params, body }) {
        const id: string = params.id
        // @ts-expect-error nothing reads this segment
        const other: unknown = params.other
        return [user.length, id, other, body.length]
      },
    })
    // @ts-expect-error nobody signs in to an open route
    route({ ...common, method: 'GET', path: '/a/', auth: 'none', handle: ({ user }) => user.length })
  })
})

describe('the methods of a path', () => {
  const params = { id: required() }
  const table = new MethodTable([
    route({ ...common, method: 'GET', path: '/repos/' }),
    route({ ...common, method: 'DELETE', path: '/repos/:id/', params }),
    route({ ...common, method: 'PUT', path: '/repos/:id/', params }),
    route({ ...common, method: 'DELETE', path: '/repos/batch-delete/' }),
    route({ ...common, method: 'POST', path: '/v2.1/token/', prefix: true }),
  ])
  const cases: [url: string, methods: string[]][] = [
    ['/repos/', ['GET', 'HEAD', 'OPTIONS']],
    ['/repos', ['GET', 'HEAD', 'OPTIONS']],
    ['/repos/?p=/x/', ['GET', 'HEAD', 'OPTIONS']],
    ['/repos/5/', ['DELETE', 'OPTIONS', 'PUT']],
    ['/repos/batch-delete', ['DELETE', 'OPTIONS', 'PUT']],
    ['/v2.1/token', ['POST', 'OPTIONS']],
    ['/v2.1/token/a/b', ['POST', 'OPTIONS']],
    ['/v2.1/tokens', []],
    ['/v2x1/token', []],
    ['/repos/5/6', []],
    ['/', []],
    ['', []],
  ]
  for (const [url, methods] of cases) {
    it(`are ${methods.join(', ') || 'none'} at ${url || 'no path'}`, () =>
      assert.deepEqual(table.allowedAt(url), methods))
  }
})
