import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'

const NOBODYS = '00000000-0000-4000-8000-000000000000'
const COMMIT = 'a'.repeat(40)
const older = 'Library not found.'
const newer = `Library ${NOBODYS} not found.`
const noAccess = 'You do not have permission to access this library.'
const denied = 'Permission denied.'

/** Calls that name a library: their responses for a library of another account and for an unknown one. */
const calls: [
  method: string,
  path: string,
  form: Record<string, string>,
  stranger: string,
  unknown: string,
][] = [
  ['GET', '/api2/repos/ID/', {}, noAccess, older],
  ['DELETE', '/api2/repos/ID/', {}, denied, newer],
  ['POST', '/api2/repos/ID/', { password: 'x' }, noAccess, older],
  ['GET', '/api2/repos/ID/owner/', {}, denied, newer],
  ['GET', '/api2/repos/ID/history-limit/', {}, denied, newer],
  ['PUT', '/api2/repos/ID/history-limit/', { keep_days: '1' }, denied, newer],
  ['GET', '/api2/repos/ID/download-info/', {}, noAccess, newer],
  ['GET', '/api2/repos/ID/history/', {}, denied, newer],
  ['GET', '/api/v2.1/repos/ID/', {}, denied, newer],
  ['GET', '/api/v2.1/repos/ID/history/', {}, denied, newer],
  ['GET', `/api/v2.1/repos/ID/commits/${COMMIT}/`, {}, denied, newer],
  ['GET', `/api/v2.1/repos/ID/commits/${COMMIT}/dir/`, {}, denied, newer],
  ['GET', '/api/v2.1/repos/ID/trash/', {}, denied, newer],
  ['POST', '/api/v2.1/repos/ID/trash/', { path: '/none' }, denied, newer],
  ['DELETE', '/api/v2.1/repos/ID/trash/', {}, denied, newer],
]
/** Calls that name no library, and those with their own response for an unknown one. */
const others: [method: string, path: string][] = [
  ['GET', '/api2/default-repo/'],
  ['POST', '/api2/default-repo/'],
  ['GET', '/api2/repos/'],
  ['POST', '/api2/repos/'],
  ['PUT', `/api2/repos/${NOBODYS}/owner/`],
  ['GET', '/api2/repo-tokens/'],
  ['GET', `/api2/repo_history_changes/${NOBODYS}/`],
  ['GET', '/api/v2.1/repos/'],
  ['POST', '/api/v2.1/repos/'],
  ['DELETE', `/api/v2.1/repos/${NOBODYS}/`],
  ['GET', '/api/v2.1/deleted-repos/'],
  ['POST', '/api/v2.1/deleted-repos/'],
  ['DELETE', '/api/v2.1/deleted-repos/'],
  ['DELETE', `/api/v2.1/deleted-repos/${NOBODYS}/`],
]

let server: TestServer
let ann: Client
let bob: Client
let id: string
before(async () => {
  server = await startServer()
  ann = await server.signUp()
  bob = await server.signUp()
  id = await ann.createLibrary()
})
after(() => server[Symbol.asyncDispose]())

const ask = (who: Client, method: string, path: string, form: Record<string, string>) =>
  who.call(method, path, method === 'GET' ? {} : { form })

describe('without a valid token', () => {
  for (const [method, path] of [...calls, ...others]) {
    it(`${method} ${path} is rejected`, async () => {
      const url = path.replace('ID', id)
      const none = await ask(server.anonymous, method, url, {})
      const missing = { detail: 'Authentication credentials were not provided.' }
      assert.deepEqual([none.status, none.body], [403, missing])
      const wrong = await ask(new Client(server.url, 'f'.repeat(40)), method, url, {})
      assert.deepEqual([wrong.status, wrong.body], [401, { detail: 'Invalid token' }])
    })
  }
})

describe('the id of a library alone', () => {
  for (const [method, path, form, stranger, unknown] of calls) {
    it(`grants no access to ${method} ${path}`, async () => {
      const before = (await ann.get(`/api2/repos/${id}/`)).text
      for (const url of [path, path.replace(/\/$/, '')]) {
        const reply = await ask(bob, method, url.replace('ID', id), form)
        assert.deepEqual([reply.status, reply.body], [403, { error_msg: stranger }])
        const none = await ask(bob, method, url.replace('ID', NOBODYS), form)
        assert.deepEqual([none.status, none.body], [404, { error_msg: unknown }])
      }
      assert.equal((await ann.get(`/api2/repos/${id}/`)).text, before)
    })
  }

  it('permits neither deletion nor transfer', async () => {
    const removal = await bob.delete(`/api/v2.1/repos/${id}/`)
    assert.deepEqual([removal.status, removal.body], [403, { error_msg: denied }])
    const transfer = await bob.put(`/api2/repos/${id}/owner/`, { form: { owner: bob.email } })
    assert.deepEqual([transfer.status, transfer.body], [403, { error_msg: denied }])
    assert.equal((await ann.get(`/api2/repos/${id}/owner/`)).body.owner, ann.email)
  })
})

describe('an invalid id', () => {
  for (const [method, path, form] of calls) {
    it(`is answered "Not found." by ${method} ${path}`, async () => {
      // `fetch` itself resolves %2e%2e to another address.
      for (const wrong of ['x', id.toUpperCase(), `${id}0`, '%00', '%252e%252e', '__proto__', '%ff']) {
        const reply = await ask(ann, method, path.replace('ID', wrong), form)
        assert.equal(reply.status, 404, `${wrong} ${reply.text}`)
      }
    })
  }
})

describe('an invalid body', () => {
  const bodies: [type: string, raw: string, statuses: number[]][] = [
    ['application/json', '{', [400]],
    ['application/json', '[]', [200, 400, 409, 440]],
    ['application/json', '"x"', [400]],
    ['application/json', '{"__proto__": {"name": "x"}, "constructor": 1}', [200, 400, 409, 440]],
    ['text/plain', 'x', [415]],
    ['application/x-www-form-urlencoded', '%ff=%00&=&&name', [200, 400, 409, 440]],
    ['application/x-www-form-urlencoded', 'name=a&name=&keep_days=1&keep_days=x', [200, 400, 409, 440]],
  ]
  const takers: [method: string, path: string][] = [
    ['POST', '/api2/repos/'],
    ['POST', '/api/v2.1/repos/'],
    ['POST', '/api2/repos/ID/'],
    ['POST', '/api2/repos/ID/?op=rename'],
    ['PUT', '/api2/repos/ID/owner/'],
    ['PUT', '/api2/repos/ID/history-limit/'],
    ['POST', '/api/v2.1/repos/ID/trash/'],
    ['POST', '/api/v2.1/deleted-repos/'],
  ]
  for (const [method, path] of takers) {
    it(`changes nothing by ${method} ${path}`, async () => {
      const before = [(await ann.get(`/api2/repos/${id}/`)).text, (await ann.get('/api2/repos/')).body.length]
      for (const [type, raw, statuses] of bodies) {
        const reply = await ann.call(method, path.replace('ID', id), {
          raw,
          headers: { 'Content-Type': type },
        })
        assert.ok(statuses.includes(reply.status), `${type} ${raw}: ${reply.status} ${reply.text}`)
      }
      const after = [(await ann.get(`/api2/repos/${id}/`)).text, (await ann.get('/api2/repos/')).body.length]
      assert.deepEqual(after, before)
    })
  }
})
