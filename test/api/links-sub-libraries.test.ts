import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { namesIn, postForm, uploadFile } from '../support/transfer.ts'
import { Workspace } from './folders-support.ts'
import { SHARE, type Shown, seen, shareLink, UPLOAD, uploadLinkTo, visit } from './links-support.ts'
import { answers, refused, shareWith, unshare } from './sharing-support.ts'

const FOLDER = '/private/project'

/** A folder of ann's library that is shared with bob, who sees it as a view. */
interface Shared {
  readonly ann: Client
  readonly bob: Client
  /** The library, as ann sees it. */
  readonly origin: Workspace
  /** The folder, as bob sees it. */
  readonly given: Workspace
}

describe('links into a shared folder', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
  })
  after(() => server[Symbol.asyncDispose]())

  async function shared(permission = 'rw'): Promise<Shared> {
    const [ann, bob] = [await server.signUp(), await server.signUp()]
    const origin = await Workspace.make(server, ann)
    await uploadFile(ann, origin.id, `${FOLDER}/docs/a.txt`, 'alpha')
    await uploadFile(ann, origin.id, `${FOLDER}/b.txt`, 'beta')
    await uploadFile(ann, origin.id, '/private/secret.txt', 'not for you')
    const id = await shareWith(ann, origin.id, bob, { path: FOLDER, permission })
    return { ann, bob, origin, given: new Workspace(server, bob, id) }
  }

  async function move(space: Workspace, from: string, folder: string): Promise<void> {
    const reply = await space.client.post(space.v2('file/'), {
      query: { p: from },
      form: { operation: 'move', dst_repo: space.id, dst_dir: folder },
    })
    assert.equal(reply.status, 301, reply.text)
  }

  const read = async (token: string) => {
    const reply = await visit(server, `/seafhttp/f/${token}/`)
    return reply.status === 200 ? reply.text : reply.status
  }

  it('are created, listed and opened by paths of the shared folder', async () => {
    const { bob, given } = await shared()
    const whole = await shareLink(given, '/')
    assert.deepEqual([whole.repo_id, whole.repo_name, whole.path], [given.id, 'project', '/'])
    const file = await shareLink(given, '/docs/a.txt')
    assert.deepEqual([file.repo_id, file.path, file.obj_name], [given.id, '/docs/a.txt', 'a.txt'])
    assert.match(file.obj_id, /^[0-9a-f]{40}$/)
    assert.deepEqual(await seen(server, whole.token), ['/docs/', '/b.txt'])
    assert.deepEqual(await seen(server, whole.token, '/docs'), ['/docs/a.txt'])
    assert.equal(await read(file.token), 'alpha')
    const paths = async (query: object) =>
      (await bob.get(SHARE, { ...query })).body.map((link: Shown) => [link.repo_id, link.path])
    assert.deepEqual(await paths({}), [
      [given.id, '/'],
      [given.id, '/docs/a.txt'],
    ])
    assert.deepEqual(await paths({ repo_id: given.id, path: '/docs/a.txt' }), [[given.id, '/docs/a.txt']])
    const again = await bob.post(SHARE, { json: { repo_id: given.id, path: '/docs/a.txt' } })
    refused(again, 400, `Share link ${file.token} already exists.`)
    const page = await visit(server, `/d/${whole.token}/`)
    assert.equal(page.status, 200)
    assert.ok(page.text.includes('b.txt') && !page.text.includes('private'))
  })

  it('lead nowhere outside of the folder', async () => {
    const { given, bob, origin } = await shared()
    const { token } = await shareLink(given, '/')
    for (const path of [
      '/../secret.txt',
      '/private/secret.txt',
      '..',
      '/private',
      '/docs/../../secret.txt',
    ]) {
      assert.equal(await seen(server, token, path), 404, path)
      const file = await visit(server, `/d/${token}/files/`, { query: { p: path, dl: '1' } })
      assert.equal(file.status, 404, path)
    }
    for (const path of ['/private/secret.txt', '/../secret.txt', `${FOLDER}/b.txt`]) {
      const reply = await bob.post(SHARE, { json: { repo_id: given.id, path } })
      refused(reply, 404, `Dirent ${path} not found.`)
    }
    refused(await bob.post(SHARE, { json: { repo_id: origin.id, path: '/' } }), 403, 'Permission denied.')
  })

  it('show the owner of the library the path in the origin', async () => {
    const { ann, bob, origin, given } = await shared()
    const made = await shareLink(given, '/docs/a.txt')
    const own = await shareLink(origin, '/private/secret.txt')
    const list = (await ann.get(origin.v21('share-links/'))).body
    const places = list.map((link: Shown) => [link.token, link.username, link.repo_id, link.path])
    assert.deepEqual(places, [
      [made.token, bob.email, origin.id, `${FOLDER}/docs/a.txt`],
      [own.token, ann.email, origin.id, '/private/secret.txt'],
    ])
    const one = (await ann.get(`${SHARE}${made.token}/`)).body
    assert.deepEqual([one.repo_id, one.path, one.obj_id], [origin.id, `${FOLDER}/docs/a.txt`, made.obj_id])
    const old = (await ann.get(origin.v2('download-shared-links/'))).body
    assert.deepEqual(old.map((link: Shown) => link.path).toSorted(), [
      '/private/project/docs/a.txt',
      '/private/secret.txt',
    ])
    refused(await bob.get(`${SHARE}${own.token}/`), 404, `token ${own.token} not found.`)
    answers(await ann.delete(origin.v21(`share-links/${made.token}/`)), 200, { success: true })
    assert.equal(await read(made.token), 404)
  })

  it('accept uploads into the folder, and notify their creator with paths of the view', async () => {
    const { ann, bob, origin, given } = await shared()
    const { token } = await uploadLinkTo(given, '/docs')
    const { upload_link } = (await visit(server, `${UPLOAD}${token}/upload/`)).body
    const sent = await postForm(upload_link, [['parent_dir', '/'], { filename: 'in.txt', bytes: 'in' }])
    assert.equal(sent.status, 200, sent.text)
    assert.deepEqual(await namesIn(ann, origin.id, `${FOLDER}/docs`), ['a.txt', 'in.txt'])
    const [told] = (await bob.get('/api/v2.1/notifications/')).body.notification_list
    assert.equal(told.type, 'file_uploaded')
    assert.deepEqual([told.detail.repo_id, told.detail.file_path], [given.id, '/docs/in.txt'])
  })

  it('are limited to the current permission of the share', async () => {
    const { ann, bob, origin, given } = await shared('r')
    const write = { repo_id: given.id, path: '/docs' }
    refused(await bob.post(UPLOAD, { json: write }), 403, 'Permission denied.')
    const permissions = { can_upload: true }
    refused(await bob.post(SHARE, { json: { ...write, permissions } }), 403, 'Permission denied.')
    const change = async (permission: string) => {
      const query = { p: FOLDER, share_type: 'user', username: bob.email }
      const reply = await ann.post(origin.v2('dir/shared_items/'), { query, form: { permission } })
      answers(reply, 200, { success: true })
    }
    await change('rw')
    const { token } = await uploadLinkTo(given, '/docs')
    const { upload_link } = (await visit(server, `${UPLOAD}${token}/upload/`)).body
    await change('r')
    refused(await visit(server, `${UPLOAD}${token}/upload/`), 403, 'Permission denied.')
    const late = await postForm(upload_link, [['parent_dir', '/'], { filename: 'x', bytes: 'x' }])
    assert.equal(late.status, 403, late.text)
  })

  it('end when the share ends', async () => {
    const { ann, bob, origin, given } = await shared()
    const { token } = await shareLink(given, '/docs')
    const { token: file } = await shareLink(given, '/b.txt')
    const download =
      (await visit(server, `/f/${file}/`, { query: { dl: '1' } })).headers.get('location') ?? ''
    await unshare(ann, origin.id, bob, FOLDER)
    assert.equal(await seen(server, token), 404)
    assert.equal(await read(file), 404)
    assert.notEqual((await fetch(download)).status, 200)
    assert.equal((await visit(server, `/d/${token}/`)).status, 404)
  })

  it('follow their target, and the folder it is in', async () => {
    const { ann, bob, origin, given } = await shared()
    const { token } = await shareLink(given, '/b.txt')
    const renamed = await ann.post(origin.v2('dir/'), {
      query: { p: '/private' },
      form: { operation: 'rename', newname: 'open' },
    })
    assert.equal(renamed.status, 200, renamed.text)
    assert.equal(await read(token), 'beta')
    await move(given, '/b.txt', '/docs')
    assert.equal(await read(token), 'beta')
    const pathOf = async (client: Client) => (await client.get(`${SHARE}${token}/`)).body.path
    assert.equal(await pathOf(bob), '/docs/b.txt')
    assert.equal(await pathOf(ann), '/open/project/docs/b.txt')
  })

  it('lead nowhere while their target is outside of the folder', async () => {
    const { ann, bob, origin, given } = await shared()
    const { token } = await shareLink(given, '/b.txt')
    await move(origin, `${FOLDER}/b.txt`, '/')
    assert.equal(await read(token), 404)
    const away = (await bob.get(`${SHARE}${token}/`)).body
    assert.deepEqual([away.is_valid, away.path, away.obj_id], [false, '/b.txt', ''])
    assert.deepEqual((await ann.get(`${SHARE}${token}/`)).body.path, '/b.txt')
    await uploadFile(ann, origin.id, `${FOLDER}/b.txt`, 'another')
    assert.equal(await read(token), 404, 'another file of that name is not the target')
    await move(origin, '/b.txt', `${FOLDER}/docs`)
    assert.equal(await read(token), 'beta')
  })

  it('are deleted with the folder', async () => {
    const { ann, bob, origin, given } = await shared()
    const { token } = await shareLink(given, '/b.txt')
    const gone = await ann.delete(origin.v2('dir/'), { query: { p: FOLDER } })
    assert.equal(gone.status, 200, gone.text)
    assert.equal(await read(token), 404)
    refused(await bob.get(`${SHARE}${token}/`), 404, `token ${token} not found.`)
    answers(await bob.get(SHARE), 200, [])
  })

  it('are managed by those who manage the shares of the folder', async () => {
    const { ann, origin, given, bob } = await shared('admin')
    const inside = await shareLink(origin, `${FOLDER}/docs`)
    const outside = await shareLink(origin, '/private/secret.txt')
    const list = (await bob.get(given.v21('share-links/'))).body
    assert.deepEqual(
      list.map((link: Shown) => [link.token, link.repo_id, link.path]),
      [[inside.token, given.id, '/docs/']],
    )
    const remove = (token: string) => bob.delete(given.v21(`share-links/${token}/`))
    refused(await remove(outside.token), 404, `token ${outside.token} not found.`)
    answers(await remove(inside.token), 200, { success: true })
    assert.equal((await ann.get(SHARE)).body.length, 1)
    refused(await bob.get(origin.v21('share-links/')), 403, 'Permission denied.')
    const cy = await server.signUp()
    await shareWith(ann, origin.id, cy, { path: FOLDER, permission: 'rw' })
    refused(await cy.get(given.v21('share-links/')), 403, 'Permission denied.')
    refused(await cy.delete(given.v21(`upload-links/${outside.token}/`)), 403, 'Permission denied.')
  })

  for (const reshare of ['false', 'true']) {
    it(`pass to the new owner of the library with reshare ${reshare}`, async () => {
      const { ann, bob, origin, given } = await shared()
      const cy = await server.signUp()
      await shareWith(ann, origin.id, cy, { path: FOLDER })
      const anns = await shareLink(origin, '/private/secret.txt')
      const bobs = await shareLink(given, '/docs/a.txt')
      const cys = await shareLink(new Workspace(server, cy, given.id), '/b.txt')
      const handed = await ann.put(origin.v2('owner/'), { form: { owner: bob.email, reshare } })
      answers(handed, 200, { success: true })
      assert.equal(await read(anns.token), 'not for you')
      assert.equal(await read(bobs.token), 'alpha')
      assert.equal(await read(cys.token), reshare === 'true' ? 'beta' : 404)
      const own = (await bob.get(SHARE)).body
      assert.deepEqual(
        own.map((link: Shown) => [link.username, link.repo_id, link.path]),
        [
          [bob.email, origin.id, `${FOLDER}/docs/a.txt`],
          [bob.email, origin.id, '/private/secret.txt'],
        ],
      )
      answers(await ann.get(SHARE), 200, [])
      refused(await ann.get(`${SHARE}${anns.token}/`), 404, `token ${anns.token} not found.`)
    })
  }
})
