import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { CallOptions, Client, Reply } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { headOf, namesIn, postForm, uploadFile, uploadLink } from '../support/transfer.ts'
import { Cast, expectOk, Stage } from './matrix/stage.ts'

let server: TestServer
let cast: Cast
let stage: Stage
before(async () => {
  server = await startServer({
    env: { CARREL_WEBHOOK_PRIVATE: 'on', CARREL_SECURITY_CONTACT: 'security@example.org' },
  })
  cast = await Cast.make(server)
})
after(() => server[Symbol.asyncDispose]())
beforeEach(async () => {
  stage = await Stage.make(cast)
})

type Call = readonly [method: string, path: string, options?: CallOptions]

/** Asserts that calls are rejected, reveal nothing of the library, and change neither it nor the caller's own. */
async function refusedAll(by: Client, mine: string, calls: readonly Call[]): Promise<void> {
  const heads = async () => [await headOf(stage.owner, stage.id), await headOf(by, mine)]
  const before = await heads()
  const wrong: string[] = []
  for (const [method, path, options] of calls) {
    const reply = await by.call(method, path, options)
    if (!isRefusal(reply))
      wrong.push(`${method} ${path} ${JSON.stringify(options)}: ${reply.status} ${reply.text}`)
  }
  assert.deepEqual(wrong, [])
  assert.deepEqual(await heads(), before)
}

/** Some calls report failures per item. */
function isRefusal({ status, text, body }: Reply): boolean {
  if (text.includes('Kolibri') || text.includes('kingfisher')) return false
  return [400, 403, 404].includes(status) || (status === 200 && body?.success?.length === 0)
}

/** Every call with a source and a destination library in its body. */
function crossings(src: string, dst: string, name: string): Call[] {
  const [src_repo_id, dst_repo_id] = [src, dst]
  const many = { src_repo_id, src_parent_dir: '/', src_dirents: [name], dst_repo_id, dst_parent_dir: '/' }
  const one = { src_repo_id, src_parent_dir: '/', src_dirent_name: name, dst_repo_id, dst_parent_dir: '/' }
  const paths = [{ src_path: `/${name}`, dst_path: '/' }]
  const batch = (operation: string): Call[] => [
    ['POST', `/api/v2.1/repos/sync-batch-${operation}-item/`, { json: many }],
    ['POST', `/api/v2.1/repos/async-batch-${operation}-item/`, { json: many }],
    ['POST', `/api/v2.1/repos/batch-${operation}-item/`, { json: { src_repo_id, dst_repo_id, paths } }],
    ['POST', '/api/v2.1/copy-move-task/', { form: { ...one, operation, dirent_type: 'file' } }],
    [
      'POST',
      `/api2/repos/${src}/fileops/${operation}/`,
      { query: { p: '/' }, form: { dst_repo: dst, dst_dir: '/', file_names: name } },
    ],
    ...['/api2', '/api/v2.1'].map((api): Call => {
      const form = { operation, dst_repo: dst, dst_dir: '/' }
      return ['POST', `${api}/repos/${src}/file/`, { query: { p: `/${name}` }, form }]
    }),
  ]
  return [...batch('copy'), ...batch('move'), ['POST', '/api/v2.1/move-folder-merge/', { form: one }]]
}

describe('the id of another account’s library', () => {
  it('is rejected both as a source and as a destination', async () => {
    const { stranger } = cast.callers
    const mine = await stranger.createLibrary('Mine')
    await uploadFile(stranger, mine, '/mine.txt', 'mine')
    await refusedAll(stranger, mine, [
      ...crossings(stage.id, mine, 'in.txt'),
      ...crossings(mine, stage.id, 'mine.txt'),
      ...crossings(stage.sub, mine, 'in.txt'),
      ...crossings(mine, stage.sub, 'mine.txt'),
    ])
  })

  it('lets a reader copy out, but neither move out nor write', async () => {
    const { reader } = cast.callers
    const mine = await reader.createLibrary('Mine')
    await uploadFile(reader, mine, '/mine.txt', 'mine')
    const moves = crossings(stage.id, mine, 'in.txt').filter(([, path, options]) => {
      return path.includes('-merge') || /\bmove\b/.test(path) || JSON.stringify(options).includes('"move"')
    })
    await refusedAll(reader, mine, [
      ...moves.filter(([, , options]) => !JSON.stringify(options).includes('"copy"')),
      ...crossings(mine, stage.id, 'mine.txt'),
    ])
    const copies = { operation: 'copy', dst_repo: mine, dst_dir: '/' }
    expectOk(await reader.post(`/api2/repos/${stage.id}/file/`, { query: { p: '/in.txt' }, form: copies }))
    assert.deepEqual(await namesIn(reader, mine), ['in.txt', 'mine.txt'])
  })

  it('gives no access to its commits, links, webhooks, tokens and deletions through another library', async () => {
    const { stranger } = cast.callers
    const mine = await stranger.createLibrary('Mine')
    await uploadFile(stranger, mine, '/in.txt', 'mine')
    const { gone } = stage
    const share = await stage.link('openLink')
    const upload = await stage.link('openLink', 'upload')
    const { webhook_id: hook } = await stage.webhook()
    const team = await stage.team()
    const v21 = `/api/v2.1/repos/${mine}/`
    const v2 = `/api2/repos/${mine}/`
    await refusedAll(stranger, mine, [
      ['GET', `${v21}commits/${gone}/`],
      ['GET', `${v21}commits/${gone}/dir/`, { query: { path: '/' } }],
      ['POST', `${v21}commits/${gone}/revert/`],
      ['GET', `${v21}dir/`, { query: { p: '/', commit_id: gone } }],
      ['GET', `${v2}dir/`, { query: { p: '/', commit_id: gone } }],
      ['GET', `${v2}file/revision/`, { query: { p: '/in.txt', commit_id: gone } }],
      ['GET', `${v2}file/`, { query: { p: '/in.txt', commit_id: gone } }],
      ['PUT', `${v2}file/revert/`, { form: { p: '/in.txt', commit_id: gone } }],
      ['PUT', `${v2}dir/revert/`, { form: { p: '/docs', commit_id: gone } }],
      ['POST', `${v21}zip-task/`, { form: { parent_dir: '/', dirents: 'in.txt', commit_id: gone } }],
      ['GET', `/api2/repo_history_changes/${mine}/`, { query: { commit_id: gone } }],
      ['DELETE', `${v21}webhooks/${hook}/`],
      ['PUT', `${v21}webhooks/${hook}/`, { form: { url: 'http://127.0.0.1:9/mine' } }],
      ['GET', `${v21}webhooks/${hook}/deliveries/`],
      ['DELETE', `/api/v2.1/groups/${team}/libraries/${mine}/`],
    ])
    for (const path of [`${v21}share-links/${share}/`, `${v2}download-shared-links/${share}/`]) {
      assert.ok((await stranger.delete(path)).status < 500)
    }
    for (const path of [`${v21}upload-links/${upload}/`, `${v2}upload-shared-links/${upload}/`]) {
      assert.ok((await stranger.delete(path)).status < 500)
    }
    expectOk(await stage.owner.get(`/api/v2.1/share-links/${share}/`))
    expectOk(await stage.owner.get(`/api/v2.1/upload-links/${upload}/`))
    const trash = { form: { commit_id: gone, path: '/gone.txt' } }
    const restored = await stranger.post(`${v21}trash/revert-dirents/`, trash)
    assert.deepEqual(restored.body.success ?? [], [], restored.text)
    assert.deepEqual(await namesIn(stranger, mine), ['in.txt'])
  })

  it('gives no access to its blocks', async () => {
    const { stranger } = cast.callers
    const mine = await stranger.createLibrary('Mine')
    const { file_id, blklist } = await stage.file()
    await refusedAll(stranger, mine, [
      ['GET', `/api2/repos/${mine}/files/${file_id}/blks/${blklist[0]}/download-link/`],
      ['GET', `/api2/repos/${mine}/dir/`, { query: { oid: file_id, p: '/x' } }],
    ])
    const links = await stranger.post(`/api2/repos/${mine}/upload-blks-link/`, {
      query: { p: '/' },
      form: { blklist: blklist[0] },
    })
    assert.deepEqual(links.body.blklist, blklist)
    const fields = { parent_dir: '/', file_name: 'stolen', file_size: 3, blockids: JSON.stringify(blklist) }
    const { pathname, search } = new URL(links.body.commiturl)
    const commit = await cast.callers.anonymous.post(pathname + search, { form: fields })
    assert.ok(commit.status >= 400 && commit.status < 500, commit.text)
    const sync = await SyncClient.link(stranger, mine)
    for (const path of [`block/${blklist[0]}`, `block-map/${file_id}`, `commit/${stage.gone}`]) {
      // The protocol returns 500 for unknown blocks and commits.
      const reply = await sync.call('GET', path)
      assert.ok([404, 500].includes(reply.status), `${path} ${reply.status} ${reply.text}`)
    }
    const packed = await sync.call('POST', 'pack-fs/', JSON.stringify([file_id]))
    assert.match(packed.text, /is missing$/)
    assert.deepEqual((await sync.call('POST', 'check-blocks/', JSON.stringify(blklist))).body, blklist)
    assert.deepEqual((await sync.call('POST', 'check-fs/', JSON.stringify([file_id]))).body, [file_id])
  })
})

describe('the reader of a folder', () => {
  beforeEach(async () => {
    // A name that begins with the folder's, and a secret beside it.
    await uploadFile(stage.owner, stage.id, '/docs2/kingfisher.txt', 'secret beside')
    await uploadFile(stage.owner, stage.id, '/top.txt', 'a secret above')
  })

  it('reads nothing beside or above it', async () => {
    const { folderReader } = cast.callers
    const mine = await folderReader.createLibrary('Mine')
    const calls: Call[] = []
    for (const id of [stage.id, stage.sub]) {
      for (const p of ['/docs2', '/../docs2', '/..', '../', '/docs/../docs2', '/./../']) {
        calls.push(
          ['GET', `/api2/repos/${id}/dir/`, { query: { p } }],
          ['GET', `/api/v2.1/repos/${id}/dir/`, { query: { p, with_parents: 'true' } }],
          ['GET', `/api2/repos/${id}/file/`, { query: { p: `${p}/kingfisher.txt` } }],
          ['GET', `/api/v2.1/repos/${id}/dir/detail/`, { query: { path: p } }],
          ['POST', `/api/v2.1/repos/${id}/zip-task/`, { form: { parent_dir: p, dirents: 'kingfisher.txt' } }],
          ['GET', `/api2/repos/${id}/upload-link/`, { query: { p } }],
          ['POST', '/api/v2.1/share-links/', { json: { repo_id: id, path: p } }],
          ['POST', '/api/v2.1/starred-items/', { form: { repo_id: id, path: p } }],
          ['GET', '/api/v2.1/smart-link/', { query: { repo_id: id, path: p, is_dir: 'true' } }],
        )
      }
    }
    const into = { src_repo_id: stage.sub, dst_repo_id: mine, dst_parent_dir: '/' }
    calls.push(
      [
        'POST',
        '/api/v2.1/repos/sync-batch-copy-item/',
        { json: { ...into, src_parent_dir: '/../docs2', src_dirents: ['kingfisher.txt'] } },
      ],
      [
        'POST',
        '/api/v2.1/repos/sync-batch-copy-item/',
        { json: { ...into, src_parent_dir: '/', src_dirents: ['../top.txt'] } },
      ],
    )
    await refusedAll(folderReader, mine, calls)
  })

  it('sees earlier states and the trash of the folder only', async () => {
    const { folderReader } = cast.callers
    const at = (path: string) => `/api/v2.1/repos/${stage.sub}/${path}`
    const { gone } = stage
    for (const reply of [
      await folderReader.get(at(`commits/${gone}/`)),
      await folderReader.get(at(`commits/${gone}/dir/`), { path: '/' }),
      await folderReader.get(at('dir/'), { p: '/', commit_id: gone, recursive: 1 }),
      await folderReader.get(at('history/')),
      await folderReader.get(at('trash/')),
      await folderReader.get(at('trash2/')),
      await folderReader.get(at('trash2/search/'), { q: 'gone' }),
      await folderReader.get('/api2/search/', { q: 'kingfisher' }),
      await folderReader.get('/api/v2.1/search-file/', { repo_id: stage.sub, q: 'kingfisher' }),
      await folderReader.get('/api/v2.1/activities/'),
      await folderReader.get('/api/v2.1/photos/'),
      await folderReader.get('/api2/events/'),
    ]) {
      assert.ok(reply.status < 500, reply.text)
      assert.doesNotMatch(reply.text, /kingfisher|gone\.txt|top\.txt/)
    }
    const missing = await folderReader.get(`/api2/repos/${stage.sub}/file/revision/`, {
      p: '/kingfisher.txt',
      commit_id: gone,
    })
    assert.ok([400, 404].includes(missing.status), missing.text)
  })

  it('reads no object or block of the rest of the library by its id', async () => {
    const { folderReader } = cast.callers
    const query = { p: '/top.txt', op: 'downloadblks' }
    const top = expectOk(await stage.owner.get(`/api2/repos/${stage.id}/file/`, query)).body
    const block = top.blklist[0]
    const link = await folderReader.get(
      `/api2/repos/${stage.sub}/files/${top.file_id}/blks/${block}/download-link/`,
    )
    assert.ok([400, 403, 404].includes(link.status), link.text)
    const listed = await folderReader.get(`/api2/repos/${stage.sub}/dir/`, { p: '/', oid: top.file_id })
    assert.doesNotMatch(listed.text, /kingfisher|top\.txt/)
    const sync = await SyncClient.link(folderReader, stage.sub)
    const head = await headOf(stage.owner, stage.id)
    const owners = await SyncClient.link(stage.owner, stage.id)
    const { root_id: root } = await owners.commit(head)
    for (const path of [`block/${block}`, `block-map/${top.file_id}`]) {
      const reply = await sync.call('GET', path)
      assert.ok(reply.status >= 400, `${path} ${reply.text}`)
    }
    for (const id of [root, top.file_id]) {
      const reply = await sync.call('POST', 'pack-fs/', JSON.stringify([id]))
      assert.ok(reply.status >= 400, `${id} ${reply.status} ${reply.text.length}`)
    }
    const commit = await sync.call('GET', `commit/${head}`)
    assert.ok(commit.status >= 400 || commit.body.root_id !== root, commit.text)
  })
})

describe('an issued credential', () => {
  it('is revoked with the permission it was issued for', async () => {
    const { writer } = cast.callers
    const upload = await uploadLink(writer, stage.id)
    const zip = await writer.post(`/api/v2.1/repos/${stage.id}/zip-task/`, {
      form: { parent_dir: '/', dirents: 'in.txt' },
    })
    const file = (await writer.get(`/api2/repos/${stage.id}/file/`, { p: '/in.txt', reuse: 1 })).body
    const link = expectOk(
      await writer.post('/api/v2.1/share-links/', { json: { repo_id: stage.id, path: '/docs' } }),
    ).body.token
    const sync = await SyncClient.link(writer, stage.id)
    const pending = await sync.send({ 'late.txt': 'late' }, await sync.head())
    const before = await headOf(stage.owner, stage.id)
    const query = { p: '/', share_type: 'user', username: writer.email }
    expectOk(await stage.owner.delete(`/api2/repos/${stage.id}/dir/shared_items/`, { query }))
    const late = await postForm(upload, [['parent_dir', '/'], { filename: 'late.txt', bytes: 'late' }])
    assert.equal(late.status, 403, late.text)
    assert.equal((await fetch(file)).status, 403)
    assert.equal((await fetch(`${server.url}/seafhttp/zip/${zip.body.zip_token}`)).status, 403)
    const visited = await cast.callers.anonymous.get(`/api/v2.1/share-links/${link}/dirents/`)
    assert.ok([403, 404].includes(visited.status), visited.text)
    // At once for writes, although reads may be cached for a moment.
    assert.equal((await sync.putHead(pending)).status, 403)
    assert.equal(await headOf(stage.owner, stage.id), before)
  })

  it('is restricted to its folder', async () => {
    const { writer } = cast.callers
    const upload = await uploadLink(writer, stage.id, '/docs')
    for (const [folder, below] of [
      ['/', ''],
      ['/docs/../', ''],
      ['/docs', '../'],
      ['/docs', 'x/../../y'],
    ]) {
      const reply = await postForm(upload, [
        ['parent_dir', folder ?? ''],
        ['relative_path', below ?? ''],
        { filename: 'astray.txt', bytes: 'x' },
      ])
      assert.ok(reply.status >= 400 && reply.status < 500, `${folder} ${below} ${reply.status} ${reply.text}`)
    }
    assert.deepEqual(
      (await namesIn(stage.owner, stage.id)).filter((name) => name === 'astray.txt'),
      [],
    )
  })

  it('of a link stays below its folder', async () => {
    const token = await stage.link('openLink')
    await uploadFile(stage.owner, stage.id, '/docs2/kingfisher.txt', 'secret beside')
    const { anonymous } = cast.callers
    for (const path of ['/..', '/../docs2', '../docs2/', '/docs2', '/./../docs2']) {
      for (const reply of [
        await anonymous.get(`/api/v2.1/share-links/${token}/dirents/`, { path }),
        await anonymous.get(`/api/v2.1/share-links/${token}/upload/`, { path }),
        await anonymous.get('/api/v2.1/share-link-zip-task/', { share_link_token: token, path }),
        await anonymous.get(`/d/${token}/`, { p: path }),
        await anonymous.get(`/d/${token}/files/`, { p: `${path}/kingfisher.txt`, dl: 1 }),
      ]) {
        assert.ok([400, 404].includes(reply.status), `${path} ${reply.status} ${reply.text.slice(0, 200)}`)
        assert.doesNotMatch(reply.text, /secret beside|Kolibri/)
      }
    }
  })

  it('for a task belongs to its caller only', async () => {
    const { stranger } = cast.callers
    const other = await stage.owner.createLibrary('Other')
    const json = {
      src_repo_id: stage.id,
      src_parent_dir: '/',
      src_dirents: ['in.txt'],
      dst_repo_id: other,
      dst_parent_dir: '/',
    }
    const begun = expectOk(await stage.owner.post('/api/v2.1/repos/async-batch-copy-item/', { json }))
    const task_id = begun.body.task_id
    assert.ok(task_id, begun.text)
    const unknown = await stranger.get('/api/v2.1/query-copy-move-progress/', { task_id: 'none' })
    const asked = await stranger.get('/api/v2.1/query-copy-move-progress/', { task_id })
    assert.deepEqual([asked.status, asked.body], [unknown.status, unknown.body])
    await stranger.delete('/api/v2.1/copy-move-task/', { form: { task_id } })
    for (;;) {
      const { body } = expectOk(await stage.owner.get('/api/v2.1/query-copy-move-progress/', { task_id }))
      if (body.canceled) assert.fail('another account canceled it')
      if (body.successful) break
    }
    assert.deepEqual(await namesIn(stage.owner, other), ['in.txt'])
  })
})
