import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { comeToRest } from '../support/accessibility.ts'
import type { Client } from '../support/client.ts'
import { type SmtpReceiver, startSmtpReceiver } from '../support/smtp-receiver.ts'
import { filePart, intoRoot, postForm, type SentPart, uploadLink } from '../support/transfer.ts'
import { fitsWidth, PHONE, webSuite } from './support.ts'
import { makePages, makePicture } from './viewer-support.ts'

const PUBLIC_URL = 'https://files.example.org'
const SOURCE = path.join(import.meta.dirname, '../../web/src')

/** A page of the app: the pattern of its route in `app.tsx`, and an address. `library` and `group` stand for ids. */
interface PageAddress {
  readonly name: string
  readonly route: string
  readonly address: string
  /** Shown to visitors who are not signed in. */
  readonly isPublic?: true
}

const sectionsOf = (route: string, base: string, sections: readonly string[]): PageAddress[] =>
  sections.map((section) => ({ name: `${base.slice(1)}-${section}`, route, address: `${base}/${section}` }))

const ACCOUNT_SECTIONS = [
  'profile',
  'security',
  'devices',
  'tokens',
  'webdav',
  'offline',
  'notifications',
  'appearance',
]
const ADMIN_SECTIONS = [
  'status',
  'statistics',
  'users',
  'storage',
  'libraries',
  'groups',
  'links',
  'devices',
  'audit',
  'setup',
]

/** A page that is not ready by then is a fault. */
const SOON = { timeout: 60_000 }

const VIEWED = ['photo.jpg', 'notes.md', 'plan.txt', 'offer.pdf', 'table.csv', 'unknown.bin']

const PAGES: readonly PageAddress[] = [
  { name: 'libraries', route: '/', address: '/' },
  { name: 'home', route: '/home', address: '/home' },
  { name: 'folder', route: '/library/:id', address: '/library/<library>' },
  { name: 'folder-empty', route: '/library/:id', address: '/library/<library>?p=/Empty' },
  { name: 'smart-link', route: '/smart-link/:token', address: '/smart-link/unknown' },
  ...VIEWED.map((file) => ({
    name: `view-${file}`,
    route: '/view/:id',
    address: `/view/<library>?p=/${file}`,
  })),
  { name: 'history', route: '/history/:id', address: '/history/<library>' },
  { name: 'trash', route: '/trash', address: '/trash' },
  { name: 'trash-library', route: '/trash/:id', address: '/trash/<library>' },
  { name: 'tags', route: '/tags/:id', address: '/tags/<library>' },
  { name: 'search', route: '/search', address: '/search?q=notes' },
  { name: 'photos', route: '/photos/:set?', address: '/photos' },
  { name: 'photos-favourites', route: '/photos/:set?', address: '/photos/starred' },
  { name: 'recent', route: '/recent', address: '/recent' },
  { name: 'storage', route: '/storage/:id?', address: '/storage' },
  { name: 'storage-library', route: '/storage/:id?', address: '/storage/<library>' },
  { name: 'starred', route: '/starred', address: '/starred' },
  { name: 'deleted', route: '/deleted', address: '/deleted' },
  { name: 'activity', route: '/activity', address: '/activity' },
  { name: 'links', route: '/links', address: '/links' },
  { name: 'shared', route: '/shared', address: '/shared' },
  { name: 'share', route: '/share', address: '/share' },
  { name: 'groups', route: '/groups/:group?', address: '/groups' },
  { name: 'group', route: '/groups/:group?', address: '/groups/<group>' },
  ...sectionsOf('/account/:section?', '/account', ACCOUNT_SECTIONS),
  ...sectionsOf('/admin/:section?', '/admin', ADMIN_SECTIONS),
  { name: 'device', route: '/device', address: '/device' },
  { name: 'nowhere', route: '*', address: '/nowhere' },
  { name: 'sign-in', route: '*', address: '/', isPublic: true },
  { name: 'forgot-password', route: '/forgot-password', address: '/forgot-password', isPublic: true },
  { name: 'set-password', route: '/set-password', address: '/set-password#unknown', isPublic: true },
  { name: 'confirm-address', route: '/confirm-address', address: '/confirm-address#unknown', isPublic: true },
]

/** Redirects to another page. */
const REDIRECTS = ['/index.html', '/client-login']

/** Both themes are shown without loading a page again. */
const WINDOWS = { desktop: {}, phone: PHONE } as const
const THEMES = ['light', 'dark'] as const

describe('the list of all pages', () => {
  it('has every route of the app', async () => {
    const source = await readFile(path.join(SOURCE, 'app.tsx'), 'utf8')
    const routes = [...source.matchAll(/\['(\/[^']*)', \w+\]|<Route path="([^"]+)"/g)].map(
      ([, page, other]) => page ?? other ?? '',
    )
    assert.ok(routes.length > 20, 'the routes were not found in app.tsx')
    const listed = new Set([...PAGES.map(({ route }) => route), ...REDIRECTS])
    assert.deepEqual(
      routes.filter((route) => !listed.has(route)),
      [],
    )
  })

  it('has every section of the account and of administration', async () => {
    for (const [file, sections] of [
      ['account/account-page.tsx', ACCOUNT_SECTIONS],
      ['admin/admin-page.tsx', ADMIN_SECTIONS],
    ] as const) {
      const source = await readFile(path.join(SOURCE, file), 'utf8')
      const [, table = ''] = /const sections = \{(.*?)\} satisfies/s.exec(source) ?? []
      assert.deepEqual(
        [...table.matchAll(/(\w+):/g)].map(([, name]) => name),
        sections,
      )
    }
  })
})

describe('every page', { concurrency: true }, () => {
  // The page of notification mails exists only if mail is configured.
  let smtp: SmtpReceiver
  const env: Record<string, string> = {}
  before(async () => {
    smtp = await startSmtpReceiver()
    env['CARREL_MAIL_URL'] = `smtp://127.0.0.1:${smtp.port}`
    env['CARREL_MAIL_FROM'] = 'Carrel <carrel@files.example.org>'
    env['CARREL_PUBLIC_URL'] = PUBLIC_URL
  })
  const suite = webSuite({ env })
  after(() => smtp[Symbol.asyncDispose]())

  /** An administrator with something on every page. */
  async function furnished(): Promise<{ admin: Client; library: string; group: string }> {
    const admin = await suite.server.admin()
    const friend = await suite.server.signUp({ email: 'friend@example.org' })
    const library = await admin.createLibrary('House and garden')
    const v21 = `/api/v2.1/repos/${library}/`
    // The link has the public URL, which mails need.
    const link = (await uploadLink(admin, library)).replace(PUBLIC_URL, suite.server.url)
    const files: SentPart[] = [
      filePart('photo.jpg', await makePicture('teal')),
      filePart('notes.md', '# Notes\n\nA [link](https://example.org) and `code`.\n'),
      filePart('plan.txt', 'A plan.\n'),
      filePart('offer.pdf', makePages(['First page', 'Second page'])),
      filePart('table.csv', 'bed,length\n1,4.2\n2,3.6\n'),
      filePart('unknown.bin', Buffer.alloc(3000, 1)),
      filePart('old.txt', 'old'),
    ]
    assert.equal((await postForm(link, [intoRoot, ...files])).status, 200)
    await admin.delete(`/api2/repos/${library}/file/`, { query: { p: '/old.txt' } })
    await admin.post(`${v21}dir/`, { query: { p: '/Empty' }, form: { operation: 'mkdir' } })
    await admin.post('/api/v2.1/starred-items/', { form: { repo_id: library, path: '/notes.md' } })
    await admin.post(`${v21}repo-tags/`, { form: { name: 'Important', color: '#FBD44A' } })
    await admin.post('/api/v2.1/share-links/', { form: { repo_id: library, path: '/notes.md' } })
    await admin.post('/api/v2.1/upload-links/', { form: { repo_id: library, path: '/Empty' } })
    const { body: group } = await admin.post('/api/v2.1/groups/', { form: { name: 'Family' } })
    await admin.put(`/api2/repos/${library}/dir/shared_items/`, {
      query: { p: '/' },
      form: { share_type: 'group', group_id: group.id, permission: 'rw' },
    })
    const lent = await friend.createLibrary('Borrowed')
    await friend.put(`/api2/repos/${lent}/dir/shared_items/`, {
      query: { p: '/' },
      form: { share_type: 'user', username: admin.email, permission: 'r' },
    })
    const gone = await admin.createLibrary('Gone')
    await admin.delete(`/api2/repos/${gone}/`)
    return { admin, library, group: String(group.id) }
  }
  let ready: ReturnType<typeof furnished> | undefined

  for (const [window, options] of Object.entries(WINDOWS)) {
    it(`is accessible in both themes and fits its window: ${window}`, async (t) => {
      ready ??= furnished()
      const { admin, library, group } = await ready
      const [signedIn, visitor] = [
        await suite.openTab(t, admin, options),
        await suite.openTab(t, undefined, options),
      ]
      if (signedIn === undefined || visitor === undefined) return
      const faults: string[] = []
      for (const { name, address, isPublic } of PAGES) {
        const tab = isPublic ? visitor : signedIn
        const { page } = tab
        try {
          await tab.go(address.replace('<library>', library).replace('<group>', group))
          await page.locator('h1, h2, #content p').filter({ visible: true }).first().waitFor(SOON)
          await page
            .locator('.waiting, .skeleton')
            .first()
            .waitFor({ state: 'detached', ...SOON })
          for (const [index, colorScheme] of THEMES.entries()) {
            await page.emulateMedia({ colorScheme })
            await hasImages(page)
            await comeToRest(page)
            await tab.picture(`every-page/${name}-${window}-${colorScheme}`)
            await tab.checkAccess(index === 0 ? 'all' : 'colors')
          }
          if (window === 'phone' && !isPublic) await fitsWidth(page)
        } catch (error) {
          faults.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
        }
      }
      assert.deepEqual(faults, [])
    })
  }
})

/** Waits until images are loaded. */
async function hasImages(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const { document } = globalThis as unknown as { document: { images: Iterable<{ complete: boolean }> } }
    return [...document.images].every(({ complete }) => complete)
  })
}
