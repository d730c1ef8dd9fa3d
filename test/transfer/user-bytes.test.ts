import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import sharp from 'sharp'
import { Workspace } from '../api/folders-support.ts'
import { shareLink } from '../api/links-support.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { SyncClient, sha1 } from '../support/sync-client.ts'
import { eventually, uploadFile } from '../support/transfer.ts'

// Whatever a user has stored, a browser must not execute it in the origin of this site.

const SCRIPT = '<html xmlns="http://www.w3.org/1999/xhtml"><script>parent.hurt = 1</script></html>'
const INERT =
  /^(?:image\/(?!svg)[\w.+-]+|audio\/[\w.+-]+|video\/[\w.+-]+|application\/(?:pdf|octet-stream|zip)|text\/plain; charset=utf-8)$/

const NAMES = [
  'a.html',
  'a.svg',
  'a.xml',
  'a.xhtml',
  'a.js',
  'a.css',
  'a.wasm',
  'a.mhtml',
  'a.xsl',
  'a.pdf',
  'none',
]

let server: TestServer
let space: Workspace
let folder: string
before(async () => {
  server = await startServer()
  space = await Workspace.make(server)
  for (const name of NAMES)
    await uploadFile(space.client, space.id, `/in/${name}`, `${SCRIPT}<!-- ${name} -->`)
  const picture = sharp({ create: { width: 40, height: 20, channels: 3, background: '#c04100' } })
  await uploadFile(space.client, space.id, '/in/a.png', await picture.png().toBuffer())
  folder = (await shareLink(space, '/in')).token
})
after(() => server[Symbol.asyncDispose]())

async function inertly(path: string, headers: Record<string, string> = {}): Promise<Response> {
  const url = path.startsWith('http') ? path : server.url + path
  const response = await fetch(url, { headers })
  await response.arrayBuffer()
  const type = response.headers.get('content-type') ?? ''
  const isParts = type.startsWith('multipart/byteranges')
  assert.ok(response.ok, `${url} ${response.status}`)
  assert.ok(isParts || INERT.test(type), `${url} ${type}`)
  assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
  const policy = response.headers.get('content-security-policy') ?? ''
  const isShown = response.headers.get('content-disposition')?.startsWith('inline') === true
  if (type === 'application/pdf' && isShown) assert.match(policy, /frame-ancestors 'none'/)
  else assert.match(policy, /default-src 'none'/)
  if (!(type === 'application/pdf' && isShown)) assert.match(policy, /sandbox/)
  return response
}

const withToken = () => ({ Authorization: `Token ${space.client.token}` })

describe('user content', () => {
  for (const name of NAMES) {
    it(`is not executed as ${name}`, async () => {
      const link = (await space.client.get(space.v2('file/'), { p: `/in/${name}`, reuse: '1' })).body
      await inertly(link)
      // The client chooses the name at the end.
      for (const other of NAMES) await inertly(link.replace(/[^/]+$/, other))
      await inertly(link, { Range: 'bytes=0-3' })
      await inertly(link, { Range: 'bytes=0-3,8-9' })
      const [head] = (await space.client.get(space.v21('history/'))).body.data
      const query = { p: `/in/${name}`, commit_id: head.commit_id }
      await inertly((await space.client.get(space.v2('file/revision/'), query)).body)
      const { token } = await shareLink(space, `/in/${name}`)
      for (const parameter of ['dl=1', 'raw=1']) {
        await inertly(`/f/${token}/?${parameter}`)
        await inertly(`/d/${folder}/files/?p=/in/../${name}&${parameter}`.replace('/in/..', ''))
      }
      for (const op of ['download', 'view']) await inertly(`/seafhttp/f/${token}/?op=${op}`)
    })
  }

  it('is not executed as a block, a thumbnail, an avatar or an archive', async () => {
    const sync = await SyncClient.link(space.client, space.id)
    const block = sha1(`${SCRIPT}<!-- a.html -->`)
    await inertly(`/seafhttp/repo/${space.id}/block/${block}`, { 'Seafile-Repo-Token': sync.token })
    const detail = await space.client.get(space.v2('file/detail/'), { p: '/in/a.html' })
    const path = space.v2(`files/${detail.body.id}/blks/${block}/download-link/`)
    await inertly((await space.client.get(path)).body)
    await inertly(space.v2('thumbnail/?p=/in/a.png&size=48'), withToken())
    await inertly(`/thumbnail/${folder}/96/a.png`)
    const form = new FormData()
    const picture = sharp({ create: { width: 40, height: 40, channels: 3, background: '#c04100' } })
    form.append('avatar', new Blob([new Uint8Array(await picture.png().toBuffer())]), 'me.png')
    const sent = await fetch(`${server.url}/api/v2.1/user-avatar/`, {
      method: 'POST',
      headers: withToken(),
      body: form,
    })
    const { avatar_url } = (await sent.json()) as { avatar_url: string }
    await inertly(avatar_url)
    const query = { parent_dir: '/', dirents: 'in' }
    const { zip_token } = (await space.client.get(space.v21('zip-task/'), query)).body
    await eventually(async () => {
      const { body } = await server.anonymous.get('/api/v2.1/query-zip-progress/', { token: zip_token })
      assert.equal(body.zipped, body.total)
    })
    await inertly(`/seafhttp/zip/${zip_token}`)
  })
})
