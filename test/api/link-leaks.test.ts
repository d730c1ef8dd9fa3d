import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { CallOptions, Client, Reply } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { postForm, uploadFile } from '../support/transfer.ts'
import { Workspace } from './folders-support.ts'
import { SHARE, shareLink, UPLOAD, uploadLinkTo, visit } from './links-support.ts'

// Names of everything that a link to `/hidden-above/shared` does not give access to.
const HIDDEN = /hidden-above|hidden-beside|hidden-library|hidden-top/

let server: TestServer
let space: Workspace
let reader: Client
before(async () => {
  server = await startServer()
  const client = await server.signUp()
  reader = await server.signUp()
  space = await Workspace.make(server, client, 'hidden-library')
  await uploadFile(client, space.id, '/hidden-above/shared/in.txt', 'inside')
  await uploadFile(client, space.id, '/hidden-above/shared/sub/deep.txt', 'deep')
  await uploadFile(client, space.id, '/hidden-above/hidden-beside/out.txt', 'outside')
  await uploadFile(client, space.id, '/hidden-top.txt', 'top')
})
after(() => server[Symbol.asyncDispose]())

type Call = (token: string, mine: string) => Promise<Reply>

const get =
  (path: (token: string) => string, options: CallOptions = {}): Call =>
  (token) =>
    visit(server, path(token), options)
const post =
  (path: (token: string) => string, options: CallOptions = {}): Call =>
  (token) =>
    server.anonymous.post(path(token), options)
const saves = (name: string, json: object): Call => {
  return (token, mine) =>
    reader.post(`${SHARE}${token}/${name}/`, { json: { dst_repo_id: mine, dst_parent_dir: '/', ...json } })
}
const packs = (dirents: string[], parent_dir = '/'): Call => {
  return (token) =>
    server.anonymous.post('/api/v2.1/share-link-zip-task/', { form: { token, parent_dir, dirents } })
}

/** Requests of a visitor of a share link, with paths that exist, that do not exist, and that lead outside. */
const share: Record<string, Call> = {
  'the list of the folder': get((token) => `${SHARE}${token}/dirents/`),
  'the listing of a subfolder': get((token) => `${SHARE}${token}/dirents/`, { query: { path: '/sub' } }),
  'the listing of an unknown folder': get((token) => `${SHARE}${token}/dirents/`, {
    query: { path: '/none' },
  }),
  'the listing of the parent': get((token) => `${SHARE}${token}/dirents/`, { query: { path: '/..' } }),
  'the page': get((token) => `/d/${token}/`),
  'the page of a subfolder': get((token) => `/d/${token}/?p=/sub`),
  'the page of a file': get((token) => `/d/${token}/files/?p=/sub/deep.txt`),
  'the page of an unknown file': get((token) => `/d/${token}/files/?p=/none`),
  'a file': get((token) => `/d/${token}/files/?p=/in.txt&dl=1`),
  'the page of the other kind': get((token) => `/f/${token}/`),
  'an upload URL': get((token) => `${SHARE}${token}/upload/`),
  'an upload URL for an unknown folder': get((token) => `${SHARE}${token}/upload/?path=/none`),
  'an archive': get((token) => `/api/v2.1/share-link-zip-task/?share_link_token=${token}`),
  'an archive of an unknown folder': get(
    (token) => `/api/v2.1/share-link-zip-task/?share_link_token=${token}&path=/none`,
  ),
  'an archive of an unknown entry': packs(['none']),
  'an archive of several unknown entries': packs(['none', 'nothing']),
  'an archive of an entry outside': packs(['../hidden']),
  'an archive below an unknown folder': packs(['a'], '/none'),
  'an archive without a script': post((token) => `/d/${token}/archive/?p=/sub`),
  'an archive of an unknown folder without a script': post((token) => `/d/${token}/archive/?p=/none`),
  'a thumbnail of a file that is no image': get((token) => `/thumbnail/${token}/96/in.txt`),
  'a thumbnail of an unknown file': get((token) => `/thumbnail/${token}/96/none.png`),
  'the URL of a thumbnail': get((token) => `/thumbnail/${token}/create/?path=/none.png`),
  'a copy of a file': saves('save-file-to-repo', { path: '/in.txt' }),
  'a copy of an unknown file': saves('save-file-to-repo', { path: '/none' }),
  'a copy of items': saves('save-items-to-repo', { src_parent_dir: '/', src_dirents: ['sub'] }),
  'a copy of unknown items': saves('save-items-to-repo', { src_parent_dir: '/sub', src_dirents: ['none'] }),
  'a copy below an unknown folder': saves('save-items-to-repo', {
    src_parent_dir: '/none',
    src_dirents: ['a'],
  }),
  'the bytes of a folder': get((token) => `/seafhttp/f/${token}/`),
  'the word that an upload is done': post((token) => `${SHARE}${token}/upload/done/`, {
    form: { file_path: '/x' },
  }),
}

const upload: Record<string, Call> = {
  'the page': get((token) => `/u/d/${token}/`),
  'an upload URL': get((token) => `${UPLOAD}${token}/upload/`),
  'an upload URL below': get((token) => `${UPLOAD}${token}/upload/?path=/sub`),
  'the page of the other kind': get((token) => `/d/${token}/`),
  'the list of the folder': get((token) => `${SHARE}${token}/dirents/`),
  'the word that an upload is done': post((token) => `${SHARE}${token}/upload/done/`, {
    form: { file_path: '/x' },
  }),
}

/** The whole response to a visitor, including headers. */
function sentBy(reply: Reply): string {
  return [...reply.headers].map((pair) => pair.join(': ')).join('\n') + reply.text
}

describe('a visitor of a link receives nothing about its surroundings', () => {
  let mine: string
  let token: string
  before(async () => {
    mine = await reader.createLibrary('Mine')
    token = (await shareLink(space, '/hidden-above/shared', { permissions: { can_upload: true } })).token
  })

  for (const [what, call] of Object.entries(share)) {
    it(`asking a share link for ${what}`, async () => {
      const reply = await call(token, mine)
      assert.ok(reply.status < 500, reply.text)
      assert.doesNotMatch(sentBy(reply), HIDDEN)
      assert.ok(!sentBy(reply).includes(space.id), 'nor the id of the library')
    })
  }

  for (const [what, call] of Object.entries(upload)) {
    it(`asking an upload link for ${what}`, async () => {
      const { token } = await uploadLinkTo(space, '/hidden-above/shared')
      const reply = await call(token, mine)
      assert.ok(reply.status < 500, reply.text)
      assert.doesNotMatch(sentBy(reply), HIDDEN)
      assert.doesNotMatch(reply.text, /in\.txt|\bsub\b.*deep/, 'nor the content of the folder')
      assert.ok(!sentBy(reply).includes(space.id))
    })
  }

  it('uploading through either', async () => {
    const addresses = [
      `${UPLOAD}${(await uploadLinkTo(space, '/hidden-above/shared')).token}/upload/`,
      `${SHARE}${token}/upload/`,
    ]
    for (const path of addresses) {
      const { upload_link } = (await visit(server, path)).body
      for (const query of ['', 'ret-json=1', 'need_idx_progress=true']) {
        for (const more of [
          [],
          [['relative_path', 'sub/new'] as const],
          [['relative_path', 'in.txt'] as const],
        ]) {
          const parts = [['parent_dir', '/'] as const, ...more, { filename: 'in.txt', bytes: 'x' }]
          const reply = await postForm(upload_link, parts, { query })
          assert.equal(reply.status, 200, reply.text)
          assert.doesNotMatch(sentBy(reply), HIDDEN)
          assert.doesNotMatch(reply.text, /\(\d\)/)
          if (!query.startsWith('need')) continue
          const told = await visit(server, `/seafhttp/idx_progress?task_id=${reply.text}`)
          assert.doesNotMatch(told.text, /\(\d\)|hidden/)
        }
      }
    }
  })
})
