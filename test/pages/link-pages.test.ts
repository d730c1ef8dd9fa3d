import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { NOON, Workspace } from '../api/folders-support.ts'
import {
  cookieOf,
  PASSWORD,
  SHARE,
  sharedSpace,
  shareLink,
  UPLOAD,
  uploadLinkTo,
  visit,
} from '../api/links-support.ts'
import type { Reply } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'

const NO_TOKEN = 'ab'.repeat(10)

/** Names that become markup, script or another URL if they are not escaped. */
const HOSTILE = [
  '<script>window.hurt=1<',
  '"><img src=x onerror=window.hurt=1>',
  "' onmouseover='window.hurt=1",
  '&lt;b&gt;&amp;',
  '${7*7}{{7*7}}',
  'javascript:window.hurt=1',
  '%3Cscript%3E?#&=+ ',
  '\u202egpj.exe',
]

describe('the link pages', () => {
  let server: TestServer
  let now = NOON
  before(async () => {
    server = await startServer({ now: () => now })
  })
  after(async () => server[Symbol.asyncDispose]())

  const views = async (space: Workspace, url: string, token: string) =>
    (await space.client.get(`${url}${token}/`)).body.view_cnt

  it('show a file with a link to its content', async () => {
    const space = await sharedSpace(server)
    const { token } = await shareLink(space, '/docs/a.txt')
    const page = await visit(server, `/f/${token}/`)
    assertPage(page, 200)
    assert.match(page.text, /<h1>a\.txt<\/h1>/)
    assert.match(page.text, /alpha beta gamma/)
    assert.ok(!page.text.includes(space.client.email), 'no address is shown')
    assert.equal(await views(space, SHARE, token), 1)
    const saved = await followed(await visit(server, `/f/${token}/?dl=1`))
    assert.equal(saved.text, 'alpha beta gamma')
    assert.match(saved.headers.get('content-disposition') ?? '', /^attachment;/)
    const seen = await followed(await visit(server, `/f/${token}/?raw=1`))
    assert.match(seen.headers.get('content-disposition') ?? '', /^inline;/)
    assert.match(seen.headers.get('content-security-policy') ?? '', /^sandbox; default-src 'none'/)
    assert.equal((await visit(server, `/f/${token}/?raw=1`)).status, 302)
    assert.equal(await views(space, SHARE, token), 1, 'only the page counts')
    assert.equal((await server.anonymous.call('HEAD', `/f/${token}/`)).status, 200)
    assert.equal(await views(space, SHARE, token), 1, 'a look at the headers does not')
  })

  it('use the language of the browser', async () => {
    const space = await sharedSpace(server)
    const file = await shareLink(space, '/docs/a.txt', { expire_days: 3 })
    const folder = await shareLink(space, '/docs', { password: PASSWORD })
    const at = (path: string, language: string) =>
      visit(server, path, { headers: { 'Accept-Language': language } })
    const german = await at(`/f/${file.token}/`, 'de-DE,de;q=0.9,en;q=0.8')
    assertPage(german, 200)
    assert.match(
      german.text,
      /<html lang="de" dir="ltr">[\s\S]*Geteilt von <b>[\s\S]*16 Bytes[\s\S]*Herunterladen/,
    )
    assert.match(german.text, /bis <time datetime="2025-08-03T22:13:20.000Z">3\. Aug\. 2025</)
    const chinese = await at(`/d/${folder.token}/`, 'zh-CN')
    assert.match(chinese.text, /<html lang="zh" dir="ltr">[\s\S]*需要密码/)
    const arabic = await at(`/d/${folder.token}/`, 'ar-EG')
    assert.match(arabic.text, /<html lang="ar" dir="rtl">[\s\S]*كلمة المرور مطلوبة/)
    assert.match((await at('/f/00000000000000000000/', 'de')).text, /<h1>Nicht gefunden</)
    const { token } = await uploadLinkTo(space, '/docs')
    const upload = await at(`/u/d/${token}/`, 'de')
    assert.match(upload.text, /<body data-words="\{&quot;waiting&quot;:&quot;Wartet&quot;/)
  })

  it('show a folder and its subfolders with links to the files', async () => {
    const space = await sharedSpace(server)
    const { token } = await shareLink(space, '/docs')
    const page = await visit(server, `/d/${token}/`)
    assertPage(page, 200)
    assert.match(page.text, /<h1>docs<\/h1>/)
    assert.match(page.text, /href="\?p=\/sub"/)
    assert.match(page.text, new RegExp(`href="\\.\\./\\.\\./d/${token}/files/\\?p=/a\\.txt"`))
    assert.ok(!page.text.includes('secret.txt'))
    const below = await visit(server, `/d/${token}/?p=/sub`)
    assert.match(below.text, /<h1>sub<\/h1>/)
    const file = await visit(server, `/d/${token}/files/?p=/sub/b.txt`)
    assertPage(file, 200)
    assert.match(file.text, /<h1>b\.txt<\/h1>/)
    assert.equal((await followed(await visit(server, `/d/${token}/files/?p=/sub/b.txt&dl=1`))).text, 'bee')
    for (const rest of [
      '?p=/gone',
      '?p=/..',
      '?p=/a.txt',
      '?p=%00',
      'files/?p=/../secret.txt&dl=1',
      'files/?p=/sub',
      'files/?p=/gone&raw=1',
    ]) {
      assertPage(await visit(server, `/d/${token}/${rest}`), 404, rest)
    }
    assert.equal(await views(space, SHARE, token), 1)
  })

  it('redirect the wrong form of a link to the right page', async () => {
    const space = await sharedSpace(server)
    const file = await shareLink(space, '/docs/a.txt')
    const folder = await shareLink(space, '/docs')
    const upload = await uploadLinkTo(space, '/docs')
    const at = async (path: string) => {
      const reply = await visit(server, path)
      return (reply.headers.get('location') ?? '').slice(server.url.length)
    }
    assert.equal(await at(`/d/${file.token}/`), `/f/${file.token}/`)
    assert.equal(await at(`/f/${folder.token}`), `/d/${folder.token}/`)
    for (const path of [`/d/${upload.token}/`, `/u/d/${folder.token}/`, `/d/${file.token}/files/?p=/`]) {
      assertPage(await visit(server, path), 404, path)
    }
  })

  it('show an error page for an invalid link', async () => {
    const space = await sharedSpace(server)
    const { token } = await shareLink(space, '/docs', { expire_days: 1 })
    for (const form of ['f', 'd', 'u/d']) {
      for (const text of [NO_TOKEN, 'x', '<script>', '%00', '..%2f..', 'a'.repeat(900)]) {
        const page = await visit(server, `/${form}/${encodeURIComponent(text)}/`)
        assert.equal(page.status, 404, text)
        assert.ok(!page.text.includes('<script>'), text)
      }
    }
    await space.client.put(`${SHARE}${token}/`, { json: { is_active: false } })
    assertPage(await visit(server, `/d/${token}/`), 404)
    await space.client.put(`${SHARE}${token}/`, { json: { is_active: true } })
    now += 86_400
    try {
      const page = await visit(server, `/d/${token}/`)
      assertPage(page, 404)
      assert.match(page.text, /has expired/)
    } finally {
      now -= 86_400
    }
  })

  it('ask for the password and reveal nothing before', async () => {
    const space = await sharedSpace(server)
    const file = await shareLink(space, '/docs/a.txt', { password: PASSWORD })
    const folder = await shareLink(space, '/docs', { password: PASSWORD })
    const upload = await uploadLinkTo(space, '/docs', { password: PASSWORD })
    const closed: [path: string, status: number][] = [
      [`/f/${file.token}/`, 200],
      [`/f/${file.token}/?dl=1`, 403],
      [`/f/${file.token}/?raw=1`, 403],
      [`/d/${folder.token}/`, 200],
      [`/d/${folder.token}/?p=/sub`, 200],
      [`/d/${folder.token}/?p=/gone`, 200],
      [`/d/${folder.token}/files/?p=/a.txt`, 200],
      [`/d/${folder.token}/files/?p=/a.txt&dl=1`, 403],
      [`/u/d/${upload.token}/`, 200],
    ]
    for (const [path, status] of closed) {
      const page = await visit(server, path)
      assertPage(page, status, path)
      assert.match(page.text, /<h1>Password required<\/h1>/)
      assert.ok(!/a\.txt|docs|alpha|user\d/.test(page.text), path)
    }
    const archive = await server.anonymous.post(`/d/${folder.token}/archive/`)
    assertPage(archive, 403)
    assert.ok(archive.text.includes(`action="../../../d/${folder.token}/"`))
    const wrong = await server.anonymous.post(`/f/${file.token}/`, { form: { password: 'a guess of mine' } })
    assertPage(wrong, 403)
    assert.match(wrong.text, /Wrong password/)
    assert.equal(wrong.headers.get('set-cookie'), null)
    // The form of another site is answered with the page that asks.
    const foreign = await fetch(`${server.url}/f/${file.token}/`, {
      method: 'POST',
      body: new URLSearchParams({ password: PASSWORD }),
      headers: { 'Sec-Fetch-Site': 'cross-site' },
      redirect: 'manual',
    })
    assert.deepEqual([foreign.status, foreign.headers.get('set-cookie')], [303, null])
    assert.equal(await views(space, SHARE, file.token), 0)

    const Cookie = await cookieOf(server, `/d/${folder.token}/?p=/sub`)
    const opened = await visit(server, `/d/${folder.token}/?p=/sub`, { headers: { Cookie } })
    assert.match(opened.text, /<h1>sub<\/h1>/)
    const saved = await visit(server, `/d/${folder.token}/files/?p=/a.txt&dl=1`, { headers: { Cookie } })
    assert.equal((await followed(saved)).text, 'alpha beta gamma')
    // Valid for this link only.
    const other = await visit(server, `/f/${file.token}/`, { headers: { Cookie } })
    assert.match(other.text, /<h1>Password required<\/h1>/)
  })

  it('keep the password grant in a cookie that is sent for this link only', async () => {
    const space = await sharedSpace(server)
    const share = await shareLink(space, '/docs/a.txt', { password: PASSWORD })
    const upload = await uploadLinkTo(space, '/docs', { password: PASSWORD })
    const cookies = async (page: string, headers = {}, at = server) => {
      const reply = await at.anonymous.post(page, { form: { password: PASSWORD }, headers })
      assert.equal(reply.status, 302, reply.text)
      return reply.headers.getSetCookie()
    }
    const pathsOf = (all: string[]) => all.map((one) => /; Path=([^;]*)/.exec(one)?.[1])
    const set = await cookies(`/f/${share.token}/`)
    for (const one of set) assert.match(one, /; Max-Age=43200; HttpOnly; SameSite=Lax$/)
    assert.deepEqual(pathsOf(set), [
      `/d/${share.token}`,
      `/f/${share.token}`,
      `/thumbnail/${share.token}`,
      `/seafhttp/f/${share.token}`,
      `/api/v2.1/share-links/${share.token}`,
      '/api/v2.1/share-link-zip-task',
    ])
    assert.deepEqual(pathsOf(await cookies(`/u/d/${upload.token}/`)), [
      `/u/d/${upload.token}`,
      `/api/v2.1/upload-links/${upload.token}`,
      `/api/v2.1/share-links/${upload.token}`,
    ])
    await using secure = await startServer({ env: { CARREL_PUBLIC_URL: 'https://files.example.org/x/' } })
    const other = await Workspace.make(secure)
    const { token } = await shareLink(other, '/', { password: PASSWORD })
    for (const one of await cookies(`/d/${token}/`, {}, secure)) {
      assert.match(one, /; Path=\/x\/[^;]*; Max-Age=43200; HttpOnly; SameSite=Lax; Secure$/)
    }
    await using proxied = await startServer({ env: { CARREL_TRUSTED_PROXIES: '127.0.0.1' } })
    const third = await sharedSpace(proxied)
    const behind = await shareLink(third, '/docs', { password: PASSWORD })
    const forwarded = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'files.example.org' }
    for (const one of await cookies(`/d/${behind.token}/`, forwarded, proxied)) assert.match(one, /; Secure$/)
  })

  it('invalidate a password grant once the link was disabled', async () => {
    const space = await sharedSpace(server)
    const { token } = await shareLink(space, '/docs', { password: PASSWORD })
    const Cookie = await cookieOf(server, `/d/${token}/`)
    const title = async (headers: Record<string, string>) => {
      const { text } = await visit(server, `/d/${token}/`, { headers })
      return /<h1>([^<]*)</.exec(text)?.[1]
    }
    assert.equal(await title({ Cookie }), 'docs')
    const put = (json: object) => space.client.put(`${SHARE}${token}/`, { json })
    await put({ description: 'still the same' })
    assert.equal(await title({ Cookie }), 'docs')
    await put({ is_active: false })
    assert.equal((await visit(server, `/d/${token}/`, { headers: { Cookie } })).status, 404)
    await put({ is_active: true })
    assert.equal(await title({ Cookie }), 'Password required')
    assert.equal(await title({ Cookie: await cookieOf(server, `/d/${token}/`) }), 'docs')
    assert.equal((await space.client.get(`${SHARE}${token}/`)).body.password, PASSWORD)
  })

  it('escape every name', async () => {
    const space = await Workspace.make(server)
    for (const name of HOSTILE) await uploadFile(space.client, space.id, `/${name}/x`, 'x')
    const { token } = await shareLink(space, '/')
    const page = await visit(server, `/d/${token}/`)
    assertPage(page, 200)
    assert.ok(!/<script>window|<img src=x|' onmouseover='|\u202e/.test(page.text), page.text)
    assert.ok(page.text.includes('&amp;lt;b&amp;gt;&amp;amp;'))
    for (const name of HOSTILE) {
      const below = await visit(server, `/d/${token}/`, { query: { p: `/${name}` } })
      assertPage(below, 200, name)
      const file = await visit(server, `/d/${token}/files/`, { query: { p: `/${name}/x`, dl: '1' } })
      assert.equal((await followed(file)).text, 'x', name)
      const links = [...below.text.matchAll(/href="([^"]*files[^"]*dl=1)"/g)]
      const [, href = ''] = links[0] ?? []
      const shown = new URL(unescaped(href), `${server.url}/d/${token}/`)
      assert.equal(shown.searchParams.get('p'), `/${name}/x`)
    }
  })

  it('serve active content as a download, in a sandbox', async () => {
    const space = await Workspace.make(server)
    const script = '<script>parent.hurt=1</script>'
    for (const name of ['page.html', 'drawing.svg', 'data.xml', 'page.xhtml', 'code.js']) {
      await uploadFile(space.client, space.id, `/${name}`, script)
    }
    const { token } = await shareLink(space, '/')
    for (const name of ['page.html', 'drawing.svg', 'data.xml', 'page.xhtml', 'code.js']) {
      const bytes = await followed(await visit(server, `/d/${token}/files/?p=/${name}&raw=1`))
      assert.match(bytes.headers.get('content-disposition') ?? '', /^attachment;/, name)
      assert.match(bytes.headers.get('content-security-policy') ?? '', /^sandbox; default-src 'none'/, name)
      assert.equal(bytes.headers.get('x-content-type-options'), 'nosniff', name)
      const page = await visit(server, `/d/${token}/files/?p=/${name}`)
      assert.ok(!page.text.includes(script), name)
    }
  })

  it('offer no download for a view-only link', async () => {
    const space = await sharedSpace(server)
    await uploadFile(space.client, space.id, '/docs/x.zip', 'zip')
    const { token } = await shareLink(space, '/docs', { permissions: { can_download: false } })
    const page = await visit(server, `/d/${token}/`)
    assert.ok(!/\bDownload/.test(page.text))
    assertPage(await visit(server, `/d/${token}/files/?p=/a.txt&raw=1`), 403)
    assertPage(await visit(server, `/d/${token}/files/?p=/a.txt&dl=1`), 403)
    assertPage(await visit(server, `/d/${token}/files/?p=/x.zip&raw=1`), 403)
    assertPage(await server.anonymous.post(`/d/${token}/archive/`), 403)
  })

  it('offer a folder archive without scripts', async () => {
    const space = await sharedSpace(server)
    const { token } = await shareLink(space, '/docs')
    let reply = await server.anonymous.post(`/d/${token}/archive/?p=/sub`)
    assert.equal(reply.status, 303)
    const waiting = reply.headers.get('location')?.slice(server.url.length) ?? ''
    for (reply = await visit(server, waiting); reply.status === 200; reply = await visit(server, waiting)) {
      assert.equal(reply.headers.get('refresh'), '2')
    }
    assert.equal(reply.status, 302)
    const zip = await fetch(reply.headers.get('location') ?? '')
    assert.deepEqual([zip.status, zip.headers.get('content-type')], [200, 'application/zip'])
    assertPage(await visit(server, `/d/${token}/archive/?task=nothing`), 404)
    assertPage(await server.anonymous.post(`/d/${token}/archive/?p=/a.txt`), 404)
  })

  it('accept files on the page of an upload link, and list none', async () => {
    const space = await sharedSpace(server)
    const { token } = await uploadLinkTo(space, '/docs', { description: 'Bring <b>all</b>' })
    const page = await visit(server, `/u/d/${token}/`)
    assertPage(page, 200)
    assert.match(page.text, /<h1>docs<\/h1>/)
    assert.match(page.text, /Bring &lt;b&gt;all/)
    assert.ok(!page.text.includes('a.txt'))
    assert.equal(await views(space, UPLOAD, token), 1)
    await space.makeReadOnly()
    assertPage(await visit(server, `/u/d/${token}/`), 403)
  })

  it('show a large folder in pages', async () => {
    const space = await Workspace.make(server)
    const { upload_link } = (
      await visit(server, `${UPLOAD}${(await uploadLinkTo(space, '/')).token}/upload/`)
    ).body
    const form = new FormData()
    form.append('parent_dir', '/')
    for (let at = 0; at < 620; at++)
      form.append('file', new Blob(['x']), `file ${String(at).padStart(3, '0')}`)
    assert.equal((await fetch(upload_link, { method: 'POST', body: form })).status, 200)
    const { token } = await shareLink(space, '/')
    const first = await visit(server, `/d/${token}/`)
    assert.match(first.text, /620 files/)
    assert.ok(first.text.includes('file 099') && !first.text.includes('file 100'))
    const last = await visit(server, `/d/${token}/?p=/&page=7`)
    assert.ok(last.text.includes('file 619') && !last.text.includes('file 599'))
    assert.equal((await visit(server, `/d/${token}/?page=x`)).status, 200)
  })

  it('serve their assets', async () => {
    for (const [name, type] of [
      ['pages.css', 'text/css; charset=utf-8'],
      ['pages.js', 'text/javascript; charset=utf-8'],
      ['icon.svg', 'image/svg+xml'],
    ]) {
      const reply = await visit(server, `/pages/${name}`)
      assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, type])
    }
    assert.equal((await visit(server, '/pages/..%2froutes.ts')).status, 404)
  })

  it('have the fonts of the web app, which the policy allows', async () => {
    const space = await sharedSpace(server)
    const { token } = await shareLink(space, '/docs/a.txt')
    const page = await visit(server, `/f/${token}/`)
    assert.match(page.headers.get('content-security-policy') ?? '', /font-src 'self'/)
    const { text: sheet } = await visit(server, '/pages/pages.css')
    for (const family of ['Carrel Inter', 'Carrel Newsreader']) {
      assert.match(sheet, new RegExp(`@font-face\\{[^}]*font-family:"?${family}`))
      assert.match(sheet, new RegExp(`font:[^;]*"${family}"`), 'it is used')
    }
    const fonts = [...sheet.matchAll(/url\(([^)]+\.woff2)\)/g)].map(([, url]) => url ?? '')
    assert.ok(fonts.length >= 2)
    for (const font of fonts) {
      const { pathname } = new URL(font, `${server.url}/pages/pages.css`)
      const reply = await visit(server, pathname)
      assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, 'font/woff2'], pathname)
    }
  })

  it('revoke a download with its link', async () => {
    const space = await sharedSpace(server)
    const { token } = await shareLink(space, '/docs/a.txt')
    const redirect = await visit(server, `/f/${token}/?dl=1`)
    assert.equal((await followed(redirect)).status, 200)
    await space.client.delete(`${SHARE}${token}/`)
    assert.equal((await followed(redirect)).status, 403)
  })

  /** The target of a redirect, as a browser without scripts receives it. */
  async function followed(reply: Reply): Promise<Reply> {
    assert.equal(reply.status, 302, reply.text)
    const location = reply.headers.get('location') ?? ''
    assert.ok(location.startsWith(`${server.url}/seafhttp/files/`), location)
    return server.anonymous.call('GET', location.slice(server.url.length))
  }
})

describe('guessing a password on the page', () => {
  it('is throttled', async () => {
    await using server = await startServer({ env: { CARREL_RATE_LIMIT: 'on' } })
    const space = await sharedSpace(server)
    const { token } = await shareLink(space, '/docs', { password: PASSWORD })
    const guess = (password: string) => server.anonymous.post(`/d/${token}/`, { form: { password } })
    for (let tries = 0; tries < 10; tries++) assert.equal((await guess(`guess ${tries}`)).status, 403)
    const late = await guess(PASSWORD)
    assert.equal(late.status, 429)
    assert.ok(Number(late.headers.get('retry-after')) > 200)
    assert.match(late.text, /Wait 5 minutes/)
  })
})

/** Asserts that it is one of our pages, with all security headers. */
function assertPage(reply: Reply, status: number, message?: string): void {
  assert.equal(reply.status, status, `${message ?? ''} ${reply.text.slice(0, 500)}`)
  assert.equal(reply.headers.get('content-type'), 'text/html; charset=utf-8', message)
  const policy = reply.headers.get('content-security-policy') ?? ''
  assert.match(policy, /default-src 'none'.*frame-ancestors 'none'/)
  assert.ok(!policy.includes('unsafe'))
  assert.deepEqual(
    [reply.headers.get('referrer-policy'), reply.headers.get('cache-control')],
    ['no-referrer', 'private, no-store'],
  )
  assert.match(reply.text, /^<!doctype html>/)
  assert.ok(!/ style=|<style| on\w+="/.test(reply.text), 'nothing inline')
}

function unescaped(attribute: string): string {
  return attribute.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&amp;', '&')
}
