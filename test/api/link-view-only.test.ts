import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import sharp from 'sharp'
import { startServer, type TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { Workspace } from './folders-support.ts'
import { SHARE, shareLink } from './links-support.ts'

// A view-only link: no request of any kind returns the bytes of the file.

const MARK = 'the very bytes of the original'
const VIEW_ONLY = { permissions: { can_download: false, can_upload: true, can_edit: true } }

let server: TestServer
let space: Workspace
let folder: string
const files = new Map<string, Buffer>()
const tokens = new Map<string, string>()

before(async () => {
  server = await startServer()
  space = await Workspace.make(server)
  const picture = sharp({ create: { width: 3000, height: 1500, channels: 3, background: '#c04100' } })
  files.set('picture.png', Buffer.concat([await picture.clone().png().toBuffer(), Buffer.from(MARK)]))
  files.set('photo.jpg', Buffer.concat([await picture.clone().jpeg().toBuffer(), Buffer.from(MARK)]))
  files.set('drawing.svg', Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"><!-- ${MARK} --></svg>`))
  files.set('paper.pdf', Buffer.from(`%PDF-1.4 ${MARK}`))
  files.set('film.mp4', Buffer.from(`....ftypmp42 ${MARK}`))
  files.set('song.mp3', Buffer.from(`ID3 ${MARK}`))
  files.set('page.html', Buffer.from(`<p>${MARK}</p>`))
  files.set('sheet.xlsx', Buffer.from(`PK ${MARK}`))
  files.set('unknown', Buffer.from(MARK))
  files.set('note.txt', Buffer.from(`${MARK}\n`.repeat(20_000)))
  for (const [name, bytes] of files) {
    await uploadFile(space.client, space.id, `/shown/${name}`, bytes)
    tokens.set(name, (await shareLink(space, `/shown/${name}`, VIEW_ONLY)).token)
  }
  folder = (await shareLink(space, '/shown', VIEW_ONLY)).token
})
after(() => server[Symbol.asyncDispose]())

interface Got {
  readonly status: number
  readonly type: string
  readonly bytes: Buffer
}

/** The response to a visitor, after redirects. */
async function got(path: string, init: RequestInit = {}): Promise<Got> {
  const response = await fetch(server.url + path, init)
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    bytes: Buffer.from(await response.arrayBuffer()),
  }
}

type Ask = (name: string, token: string) => Promise<Got>

const inFolder = (name: string) => encodeURIComponent(`/${name}`)
const form = (fields: Record<string, string>): RequestInit => ({
  method: 'POST',
  body: new URLSearchParams(fields),
})
const ranged = { headers: { Range: 'bytes=0-' } }

/** Every route that takes the token of a share link, with all variants for a file. */
const routes: Record<string, readonly Ask[]> = {
  'GET /f/:token/': [
    (_, token) => got(`/f/${token}/`),
    (_, token) => got(`/f/${token}/?dl=1`),
    (_, token) => got(`/f/${token}/?raw=1`),
    (_, token) => got(`/f/${token}/?raw=1&dl=1`, ranged),
  ],
  'GET /d/:token/': [() => got(`/d/${folder}/`), (name) => got(`/d/${folder}/?p=${inFolder(name)}`)],
  'GET /d/:token/files/': [
    (name) => got(`/d/${folder}/files/?p=${inFolder(name)}`),
    (name) => got(`/d/${folder}/files/?p=${inFolder(name)}&dl=1`),
    (name) => got(`/d/${folder}/files/?p=${inFolder(name)}&raw=1`),
  ],
  'POST /d/:token/archive/': [
    () => got(`/d/${folder}/archive/`, { method: 'POST' }),
    () => got(`/d/${folder}/archive/?p=/`, { method: 'POST' }),
  ],
  'GET /d/:token/archive/': [
    async () => {
      const { body } = await space.client.get(space.v21('zip-task/'), { parent_dir: '/', dirents: 'shown' })
      return got(`/d/${folder}/archive/?task=${body.zip_token}`)
    },
  ],
  'GET /seafhttp/f/:token/': [
    (_, token) => got(`/seafhttp/f/${token}/`),
    (_, token) => got(`/seafhttp/f/${token}/?op=download`),
    (_, token) => got(`/seafhttp/f/${token}/?op=view`),
    (_, token) => got(`/seafhttp/f/${token}/?op=view`, ranged),
    (_, token) => got(`/seafhttp/f/${token}/?op=view`, { headers: { Range: 'bytes=0-9,20-29' } }),
    (_, token) => got(`/seafhttp/f/${token}/?op=view`, { headers: { 'Want-Content-Digest': 'sha-256=1' } }),
    (_, token) => got(`/seafhttp/f/${token}/`, { headers: { 'If-Range': 'x', Range: 'bytes=0-' } }),
  ],
  'GET /api/v2.1/share-links/:token/dirents/': [() => got(`${SHARE}${folder}/dirents/`)],
  'GET /api/v2.1/share-links/:token/upload/': [() => got(`${SHARE}${folder}/upload/`)],
  'POST /api/v2.1/share-links/:token/upload/done/': [
    (name) => got(`${SHARE}${folder}/upload/done/`, form({ file_path: `/shown/${name}` })),
  ],
  'GET /api/v2.1/share-link-zip-task/': [
    () => got(`/api/v2.1/share-link-zip-task/?share_link_token=${folder}`),
    (_, token) => got(`/api/v2.1/share-link-zip-task/?share_link_token=${token}`),
  ],
  'POST /api/v2.1/share-link-zip-task/': [
    (name) => got('/api/v2.1/share-link-zip-task/', form({ token: folder, parent_dir: '/', dirents: name })),
  ],
  'GET /thumbnail/:where/create/': [
    (name) => got(`/thumbnail/${folder}/create/?path=${inFolder(name)}&size=256`),
  ],
  'GET /thumbnail/:where/:size/': [
    (name) => got(`/thumbnail/${folder}/256/${name}`),
    (name) => got(`/thumbnail/${folder}/1024/${name}`),
    (name) => got(`/thumbnail/${folder}/1024/${name}`, ranged),
    (name) => got(`/thumbnail/${folder}/2048/${name}`),
    (_, token) => got(`/thumbnail/${token}/1024/`),
  ],
}

/** Routes with a token that return nothing to a visitor of a share link. */
const others = new Set([
  'POST /f/:token/',
  'POST /d/:token/',
  'POST /d/:token/files/',
  'GET /u/d/:token/',
  'POST /u/d/:token/',
  'GET /api/v2.1/upload-links/:token/upload/',
  'POST /api/v2.1/upload-links/:token/upload/',
  'GET /smart-link/:token/',
  // Tokens of archives, devices and mails.
  'GET /api/v2.1/query-zip-progress/',
  'POST /api/v2.1/cancel-zip-task/',
  'POST /api2/device-wiped/',
  'POST /api/v2.1/password-reset/check/',
  'POST /api/v2.1/password-reset/confirm/',
  'POST /api/v2.1/confirm-contact-email/',
  'POST /api/v2.1/client-login/',
  'GET /client-login/',
  'GET /api2/client-sso-link/:token/',
  'GET /client-sso/:token/',
])

describe('a view-only link', () => {
  for (const [name, asks] of Object.entries(routes)) {
    it(`does not return the file by ${name}`, async () => {
      for (const [file, original] of files) {
        for (const [index, ask] of asks.entries()) {
          const { bytes, type, status } = await ask(file, tokens.get(file) ?? '')
          const what = `${file}, request ${index + 1}: ${status} ${type}`
          assert.ok(!bytes.includes(original), what)
          // Text is part of the page; any other content is not.
          const isPage = file === 'note.txt' && type.startsWith('text/html')
          assert.ok(isPage || !bytes.includes(MARK), what)
          assert.ok(!isPage || bytes.length < 200_000, what)
        }
      }
    })
  }

  it('is tested on every route that takes its token', () => {
    const names = server.running.endpoints
      .filter(({ reads }) => ['token', 'share_link_token', 'where'].some((one) => reads.includes(one)))
      .filter(({ auth, path }) => auth === 'none' || path.startsWith('/thumbnail/'))
      .map(({ method, path }) => `${method} ${path}`)
    assert.deepEqual(
      names.filter((name) => !(name in routes) && !others.has(name)),
      [],
      'add their view-only responses to this file',
    )
    assert.deepEqual(
      Object.keys(routes).filter((name) => !names.includes(name)),
      [],
    )
  })

  it('serves pictures no larger than a preview, re-encoded', async () => {
    for (const name of ['picture.png', 'photo.jpg']) {
      const { status, type, bytes } = await got(`/thumbnail/${folder}/1024/${name}`)
      assert.deepEqual([status, type], [200, 'image/jpeg'])
      assert.equal((await sharp(bytes).metadata()).width, 1024)
      assert.equal((await got(`/thumbnail/${folder}/2048/${name}`)).status, 403)
      assert.equal((await got(`/thumbnail/${folder}/1025/${name}`)).status, 403)
    }
    const { bytes } = await got(`${SHARE}${folder}/dirents/?thumbnail_size=2048`)
    assert.doesNotMatch(String(bytes), /thumbnail\/[0-9a-f]+\/2048/)
  })

  it('has pages that refer only to previews', async () => {
    for (const [name, token] of tokens) {
      for (const path of [`/f/${token}/`, `/d/${folder}/files/?p=${inFolder(name)}`]) {
        const { status, bytes } = await got(path)
        assert.equal(status, 200, name)
        assert.doesNotMatch(String(bytes), /raw=1|dl=1|<video|<audio/, name)
        const [, source] = /<img src="([^"]*)"/.exec(String(bytes)) ?? []
        const isPicture = ['picture.png', 'photo.jpg'].includes(name)
        assert.equal(source !== undefined, isPicture, name)
        if (source === undefined) continue
        const shown = await got(new URL(source.replaceAll('&amp;', '&'), server.url + path).pathname)
        assert.deepEqual([shown.status, shown.type], [200, 'image/jpeg'], name)
      }
    }
  })

  it('cannot be copied from, whoever is signed in', async () => {
    const json = { dst_repo_id: space.id, dst_parent_dir: '/', path: '/note.txt' }
    const file = await space.client.post(`${SHARE}${folder}/save-file-to-repo/`, { json })
    assert.equal(file.status, 403)
    const items = { ...json, src_parent_dir: '/', src_dirents: ['note.txt'] }
    const several = await space.client.post(`${SHARE}${folder}/save-items-to-repo/`, { json: items })
    assert.equal(several.status, 403)
  })

  it('revokes the URLs issued while it allowed downloads', async () => {
    await uploadFile(space.client, space.id, '/later.txt', MARK)
    const { token } = await shareLink(space, '/later.txt')
    const location = async (query: string) =>
      (await server.anonymous.get(`/f/${token}/?${query}`)).headers.get('location') ?? ''
    const addresses = [await location('dl=1'), await location('raw=1')]
    for (const address of addresses) assert.equal(String((await got(new URL(address).pathname)).bytes), MARK)
    await space.client.put(`${SHARE}${token}/`, { json: { permissions: { can_download: false } } })
    for (const address of addresses) assert.equal((await got(new URL(address).pathname)).status, 403)
    for (const query of ['dl=1', 'raw=1']) {
      assert.equal((await server.anonymous.get(`/f/${token}/?${query}`)).status, 403)
    }
  })
})
