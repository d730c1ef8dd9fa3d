import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startServer, type TestServer } from '../support/server.ts'
import { assertError, assertReply, Workspace } from './folders-support.ts'

const UNKNOWN = '11111111-2222-4333-8444-555555555555'
const URL = '/api/v2.1/smart-link/'

describe('smart links', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
  })
  after(async () => server[Symbol.asyncDispose]())

  it('returns one permanent link per file and folder', async () => {
    const space = await Workspace.make(server)
    await space.folder('/docs')
    await space.file('/docs/8.md')
    const ask = (path: string, is_dir: string) => space.client.get(URL, { repo_id: space.id, path, is_dir })
    const file = await ask('/docs/8.md', 'false')
    const token: string = file.body.smart_link_token
    assert.match(token, /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    const smart_link = `${server.url}/smart-link/${token}/`
    assertReply(file, 200, { smart_link, smart_link_token: token, name: '8.md' })
    assert.equal((await ask('docs/8.md/', 'False')).body.smart_link_token, token)
    const folder = await ask('/docs/', 'TRUE')
    assert.equal(folder.body.name, 'docs')
    assert.notEqual(folder.body.smart_link_token, token)
    assert.equal((await ask('/', 'true')).body.name, 'Plans')
  })

  it('leads to the current path of the file or folder', async () => {
    const space = await Workspace.make(server)
    await space.folder('/docs')
    await space.file('/docs/a')
    const ask = async (path: string, is_dir: boolean): Promise<string> =>
      (await space.client.get(URL, { repo_id: space.id, path, is_dir })).body.smart_link_token
    const [folder, file] = [await ask('/docs/', true), await ask('/docs/a', false)]
    const where = (token: string) => space.client.get(`/api/v2.1/smart-links/${token}/`)
    assertReply(await where(folder), 200, { repo_id: space.id, path: '/docs', is_dir: true })
    const form = { operation: 'rename', newname: 'papers' }
    await space.client.post(space.v2('dir/'), { query: { p: '/docs' }, form })
    assertReply(await where(file), 200, { repo_id: space.id, path: '/papers/a', is_dir: false })
    const stranger = await server.signUp()
    assertError(await stranger.get(`/api/v2.1/smart-links/${file}/`), 403, 'Permission denied.')
    assertError(await where(UNKNOWN), 400, 'token invalid.')
    assertError(await where('x%00y'), 404, 'Not found.')
  })

  it('rejects invalid and unknown paths', async () => {
    const space = await Workspace.make(server)
    await space.folder('/d')
    await space.file('/f')
    const whole = { repo_id: space.id, path: '/f', is_dir: 'false' }
    const rows: [query: Record<string, string | undefined>, status: number, text: string][] = [
      [{ ...whole, repo_id: undefined }, 400, 'repo_id invalid.'],
      [{ ...whole, repo_id: 'x' }, 400, 'repo_id invalid.'],
      [{ ...whole, path: undefined }, 400, 'path invalid.'],
      [{ ...whole, is_dir: undefined }, 400, 'is_dir invalid.'],
      [{ ...whole, is_dir: '1' }, 400, "is_dir can only be 'true' or 'false'."],
      [{ ...whole, repo_id: UNKNOWN }, 404, `Library ${UNKNOWN} not found.`],
      [{ ...whole, repo_id: 'z'.repeat(36) }, 404, `Library ${'z'.repeat(36)} not found.`],
      [{ ...whole, path: '/d' }, 404, 'File /d not found.'],
      [{ ...whole, is_dir: 'true' }, 404, 'Folder /f not found.'],
      [{ ...whole, path: '/../f' }, 404, 'File /../f not found.'],
    ]
    for (const [query, status, text] of rows) assertError(await space.client.get(URL, query), status, text)
    const stranger = await server.signUp()
    assertError(await stranger.get(URL, whole), 403, 'Permission denied.')
  })
})
