import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startServer, type TestServer } from '../support/server.ts'
import { namesIn, postForm, storedBytes } from '../support/transfer.ts'
import { assertError, NOON, type Workspace } from './folders-support.ts'
import { PASSWORD, sharedSpace, UPLOAD, uploadLinkTo, visit } from './links-support.ts'

const NOTICES = '/api/v2.1/notifications/'
const HOUR = 3600

describe('file requests', () => {
  let server: TestServer
  let now = NOON
  before(async () => {
    server = await startServer({ now: () => now })
  })
  after(async () => server[Symbol.asyncDispose]())

  const asked = {
    heading: 'Papers for your tax return',
    name: 'required',
    message: true,
    files: ['Wage statement', 'insurance.pdf'],
    deadline: '',
    folder_by_name: false,
  }
  const requested = async (space: Workspace, request: object) =>
    (await uploadLinkTo(space, '/docs', { request: { ...asked, ...request } })) as {
      token: string
      request: unknown
    }
  const addressFor = (token: string, json: object) =>
    server.anonymous.post(`${UPLOAD}${token}/upload/`, { json })
  const send = async (address: string, filename: string, more: [string, string][] = []) =>
    postForm(address, [['parent_dir', '/'], ...more, { filename, bytes: `content of ${filename}` }], {
      query: 'ret-json=1',
    })
  const notices = async (space: Workspace) =>
    (await space.client.get(NOTICES, { page: 1, per_page: 20 })).body.notification_list as {
      type: string
      detail: Record<string, string>
    }[]

  it('say what they ask, and take changes', async () => {
    const space = await sharedSpace(server)
    const { token, request } = await requested(space, { deadline: '2030-01-01T00:00:00+01:00' })
    assert.deepEqual(request, { ...asked, deadline: '2029-12-31T23:00:00+00:00' })
    const put = (json: object) => space.client.put(`${UPLOAD}${token}/`, { json })
    // Another change leaves it as it is.
    assert.deepEqual((await put({ description: 'Thank you' })).body.request, request)
    const changed = { ...asked, heading: '', name: 'optional', files: ['one'] }
    assert.deepEqual((await put({ request: changed })).body.request, changed)
    const form = { request: JSON.stringify({ ...changed, heading: 'By form' }) }
    assert.equal((await space.client.put(`${UPLOAD}${token}/`, { form })).body.request.heading, 'By form')
    const listed = await space.client.get(UPLOAD, { repo_id: space.id })
    assert.equal(listed.body[0].request.heading, 'By form')
    assert.equal((await put({ request: '' })).body.request, null)
    assert.equal((await space.client.get(`${UPLOAD}${token}/`)).body.request, null)
  })

  it('are refused if malformed', async () => {
    const space = await sharedSpace(server)
    const rows: [request: unknown, field: string][] = [
      ['{', 'request'],
      [7, 'request'],
      [{ heading: 'x'.repeat(201) }, 'heading'],
      [{ heading: 'two\nlines' }, 'heading'],
      [{ name: 'maybe' }, 'name'],
      [{ message: 'yes' }, 'message'],
      [{ files: 'all' }, 'files'],
      [{ files: Array(51).fill('x') }, 'files'],
      [{ files: ['x'.repeat(201)] }, 'files'],
      [{ files: [1] }, 'files'],
      [{ deadline: 'tomorrow' }, 'deadline'],
      [{ folder_by_name: 1 }, 'folder_by_name'],
      [{ folder_by_name: true, name: 'optional' }, 'folder_by_name'],
    ]
    for (const [request, field] of rows) {
      const json = { repo_id: space.id, path: '/docs', request }
      assertError(await space.client.post(UPLOAD, { json }), 400, `${field} invalid.`)
    }
    assert.deepEqual((await space.client.get(UPLOAD, { repo_id: space.id })).body, [])
  })

  it('notify the creator of who sent what, with the message', async () => {
    const space = await sharedSpace(server)
    const { token } = await requested(space, {})
    assertError(await visit(server, `${UPLOAD}${token}/upload/`), 400, 'name is required.')
    assertError(await addressFor(token, { name: '  ' }), 400, 'name is required.')
    assertError(await addressFor(token, { name: 'x'.repeat(101) }), 400, 'name invalid.')
    assertError(await addressFor(token, { name: 'Ann', message: 'x'.repeat(2001) }), 400, 'message invalid.')
    const reply = await addressFor(token, { name: ' Ann  Lee ', message: 'The rest\nfollows.' })
    await send(reply.body.upload_link, 'wages.pdf')
    await send(reply.body.upload_link, 'deep.pdf', [['relative_path', 'more/papers']])
    assert.deepEqual(await namesIn(space.client, space.id, '/docs/more/papers'), ['deep.pdf'])
    const [folder, file] = await notices(space)
    assert.equal(folder?.type, 'folder_uploaded')
    assert.equal(folder.detail['folder_path'], '/docs/more')
    assert.equal(file?.type, 'file_uploaded')
    assert.equal(file.detail['file_path'], '/docs/wages.pdf')
    for (const { detail } of [folder, file]) {
      assert.equal(detail['visitor_name'], 'Ann Lee')
      assert.equal(detail['visitor_message'], 'The rest\nfollows.')
    }
  })

  it('believe nothing that they did not ask for', async () => {
    const space = await sharedSpace(server)
    const { token } = await requested(space, { name: 'no', message: false })
    const reply = await addressFor(token, { name: 'Ann', message: 'Hello' })
    await send(reply.body.upload_link, 'one.pdf')
    const [notice] = await notices(space)
    assert.equal(notice?.detail['file_name'], 'one.pdf')
    assert.equal(notice.detail['visitor_name'], undefined)
    assert.equal(notice.detail['visitor_message'], undefined)
  })

  it('put the files of each visitor into a folder with their name', async () => {
    const space = await sharedSpace(server)
    const { token } = await requested(space, { folder_by_name: true })
    const from = async (name: string, filename: string, more: [string, string][] = []) => {
      const reply = await addressFor(token, { name })
      assert.equal(reply.status, 200, reply.text)
      assert.equal((await send(reply.body.upload_link, filename, more)).status, 200)
    }
    await from('Ann Lee', 'a.pdf')
    await from('Ann Lee', 'a.pdf')
    await from('../../Bob: / \\ Co.', 'b.pdf', [['relative_path', 'scans']])
    assert.deepEqual(await namesIn(space.client, space.id, '/docs/Ann Lee'), ['a (1).pdf', 'a.pdf'])
    const names = await namesIn(space.client, space.id, '/docs')
    const bob = names.find((name) => name.includes('Bob'))?.replace('/', '')
    assert.equal(bob, '-..-Bob- - - Co')
    assert.deepEqual(await namesIn(space.client, space.id, `/docs/${bob}/scans`), ['b.pdf'])
    assertError(await addressFor(token, { name: '...' }), 400, 'name invalid.')
    const told = (await notices(space)).map(({ detail }) => detail['folder_path'])
    assert.deepEqual(told, [`/docs/${bob}/scans`, '/docs/Ann Lee', '/docs/Ann Lee'])
    // A file with the name of a visitor is not revealed, and not replaced.
    await from('a.txt', 'c.pdf')
    assert.deepEqual(await namesIn(space.client, space.id, '/docs/a.txt (1)'), ['c.pdf'])
    assert.equal(String(await storedBytes(server, space.id, '/docs/a.txt')), 'alpha beta gamma')
  })

  it('end at the deadline, with uploads that are under way', async () => {
    const space = await sharedSpace(server)
    const { token } = await requested(space, {
      name: 'no',
      deadline: new Date((NOON + HOUR) * 1000).toISOString(),
    })
    const address = (await addressFor(token, {})).body.upload_link
    assert.equal((await send(address, 'early.pdf')).status, 200)
    now = NOON + HOUR - 1
    const last = (await addressFor(token, {})).body.upload_link
    now = NOON + HOUR
    try {
      for (const late of [address, last]) assert.equal((await send(late, 'late.pdf')).status, 403)
      assertError(await addressFor(token, {}), 403, 'The deadline has passed.')
      assertError(await visit(server, `${UPLOAD}${token}/upload/`), 403, 'The deadline has passed.')
      const page = await visit(server, `/u/d/${token}/`)
      assert.equal(page.status, 403)
      assert.match(page.text, /<h1>The deadline has passed<\/h1>/)
      assert.match(page.text, /Papers for your tax return/)
      assert.doesNotMatch(page.text, /data-upload/)
      assert.ok(!(await namesIn(space.client, space.id, '/docs')).includes('late.pdf'))
      // A later deadline opens it again.
      const json = { request: { ...asked, name: 'no' } }
      await space.client.put(`${UPLOAD}${token}/`, { json })
      assert.equal((await addressFor(token, {})).status, 200)
      assert.equal(
        (await send(address, 'late.pdf')).status,
        403,
        'a changed link ends what was issued before',
      )
    } finally {
      now = NOON
    }
  })

  it('show a page with the request, in the language of the visitor', async () => {
    const space = await sharedSpace(server)
    const { token } = await requested(space, {
      heading: '<b>Tax</b>',
      files: ['<i>Wage</i>'],
      deadline: '2030-05-01T10:30:00Z',
    })
    await space.client.put(`${UPLOAD}${token}/`, { json: { description: 'As agreed.', password: PASSWORD } })
    const closed = await visit(server, `/u/d/${token}/`)
    assert.ok(!/Tax|Wage|agreed/.test(closed.text), 'nothing of it is shown before the password')
    await space.client.put(`${UPLOAD}${token}/`, { json: { password: '' } })
    const page = await visit(server, `/u/d/${token}/`, { headers: { 'Accept-Language': 'de' } })
    assert.equal(page.status, 200)
    assert.match(page.text, /<h1>&lt;b&gt;Tax&lt;\/b&gt;<\/h1>/)
    assert.match(page.text, /As agreed\./)
    assert.match(page.text, /&lt;i&gt;Wage&lt;\/i&gt;/)
    assert.match(page.text, /Dein Name/)
    assert.match(page.text, /<time datetime="2030-05-01T10:30:00.000Z"[^>]*>1\. Mai 2030/)
    assert.ok(!page.text.includes(space.client.email))
  })
})
