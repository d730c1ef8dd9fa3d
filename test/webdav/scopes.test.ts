import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Endpoint } from '../../src/platform/http/route.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { personalToken } from '../support/tokens.ts'
import { uploadFile } from '../support/transfer.ts'
import { DavClient, LOCK } from './dav-client.ts'

const PROPERTY =
  '<propertyupdate xmlns="DAV:"><set><prop><note xmlns="urn:x">n</note></prop></set></propertyupdate>'

describe('scoped tokens, on every WebDAV route', () => {
  let server: TestServer
  let user: Client
  let mine: string
  let other: string
  let endpoints: Endpoint[]
  before(async () => {
    server = await startServer()
    user = await server.signUp()
    mine = await user.createLibrary('Mine')
    other = await user.createLibrary('Other')
    for (const library of [mine, other]) await uploadFile(user, library, '/a.txt', 'a')
    endpoints = server.running.endpoints.filter(({ auth }) => auth === 'webdav')
  })
  after(() => server[Symbol.asyncDispose]())

  /** What a request could change: commits, locks and properties of both libraries. */
  async function state(): Promise<string> {
    const dav = new DavClient(server.url, user.email, 'a long password')
    const parts = await Promise.all([
      ...[mine, other].map((id) => user.get(`/api2/repos/${id}/`)),
      ...['Mine', 'Other'].map((name) =>
        dav.propfind(`/dav/${name}/a.txt`, '0', '<propfind xmlns="DAV:"><allprop/></propfind>'),
      ),
    ])
    return parts.map(({ text }) => text).join('\n')
  }

  async function client(fields: Parameters<typeof personalToken>[1]): Promise<DavClient> {
    const { token } = await personalToken(user, fields)
    return new DavClient(server.url, user.email, token ?? assert.fail('no token'))
  }

  const call = (dav: DavClient, { method, path }: Endpoint, library: string) => {
    const target = method === 'MKCOL' ? 'new' : 'a.txt'
    const headers = {
      ...(method !== 'MOVE' && { Depth: '0' }),
      Destination: `${server.url}${path}${library}/b.txt`,
      'Lock-Token': '<urn:uuid:0>',
    }
    const bodies: Record<string, string> = { PUT: 'changed', LOCK, PROPPATCH: PROPERTY }
    const body = bodies[method]
    return dav.call(method, `${path}${library}/${target}`, { headers, ...(body !== undefined && { body }) })
  }

  it('need the scope of the route, and change nothing without it', async () => {
    const unchanged = await state()
    for (const permission of ['r', 'upload'] as const) {
      const dav = await client({ permission })
      for (const endpoint of endpoints) {
        const isAdmitted = permission === 'r' && endpoint.scope === 'read'
        const { status } = await call(dav, endpoint, 'Mine')
        assert.equal(
          status === 403,
          !isAdmitted,
          `${permission} ${endpoint.method} ${endpoint.path}: ${status}`,
        )
      }
    }
    assert.equal(await state(), unchanged)
    assert.ok(
      endpoints.some(({ scope }) => scope === 'read') && endpoints.some(({ scope }) => scope === 'write'),
    )
  })

  it('for one library see and reach no other', async () => {
    const unchanged = await state()
    const dav = await client({ permission: 'rw', repo_id: mine })
    assert.deepEqual(await dav.names('/dav/'), ['Mine'])
    for (const endpoint of endpoints) {
      const { status } = await call(dav, endpoint, 'Other')
      assert.ok([403, 404, 409].includes(status), `${endpoint.method} ${endpoint.path}: ${status}`)
    }
    for (const method of ['COPY', 'MOVE']) {
      const { status } = await dav.call(method, '/dav/Mine/a.txt', {
        headers: { Destination: `${server.url}/dav/Other/b.txt` },
      })
      assert.ok([403, 404, 409].includes(status), `${method} into another library: ${status}`)
    }
    assert.equal(await state(), unchanged)
  })
})
