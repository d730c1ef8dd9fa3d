import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import ar from '../../src/surfaces/pages/texts/ar.json' with { type: 'json' }
import de from '../../src/surfaces/pages/texts/de.json' with { type: 'json' }
import en from '../../src/surfaces/pages/texts/en.json' with { type: 'json' }
import zh from '../../src/surfaces/pages/texts/zh.json' with { type: 'json' }
import type { Workspace } from '../api/folders-support.ts'
import { PASSWORD, SHARE, sharedSpace, shareLink, UPLOAD, uploadLinkTo } from '../api/links-support.ts'
import { seriousViolations } from '../support/accessibility.ts'
import { openBrowser } from '../support/browser.ts'
import { startServer, type TestServer } from '../support/server.ts'

const PICTURES = path.join(import.meta.dirname, '../../test-artifacts')
const takesPictures = process.env['CARREL_TEST_PICTURES'] !== '0'
const languages = { en, de, zh, ar }
type Language = keyof typeof languages

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const
const screens = [
  { name: 'desktop', colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  { name: 'desktop-dark', colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  { name: 'phone', colorScheme: 'light', ...PHONE },
  { name: 'phone-dark', colorScheme: 'dark', ...PHONE },
] as const

/** A link that does not open, and what its page says. */
interface Refused {
  readonly name: string
  /** With the paths of a link to a file, to a folder, and for uploads. */
  readonly paths: readonly string[]
  readonly status: number
  readonly says: readonly (
    | 'nowhereTitle'
    | 'nowhere'
    | 'expiredTitle'
    | 'expired'
    | 'passwordNeeded'
    | 'passwordHint'
  )[]
}

describe('the page of a link that does not open', () => {
  let server: TestServer
  let browser: Browser | undefined
  let refused: readonly Refused[]
  before(async () => {
    server = await startServer()
    browser = await openBrowser()
    refused = await makeRefused()
  })
  after(async () => {
    await browser?.close()
    await server[Symbol.asyncDispose]()
  })

  /** A link of each kind, made with the same options and then changed. */
  async function pathsOf(
    space: Workspace,
    more: object,
    change: (token: string, at: string) => Promise<unknown>,
  ) {
    const file = await shareLink(space, '/docs/a.txt', more)
    const folder = await shareLink(space, '/docs', more)
    const upload = await uploadLinkTo(space, '/docs', more)
    for (const { token } of [file, folder]) await change(token, SHARE)
    await change(upload.token, UPLOAD)
    return [file, folder, upload].map(({ link }) => link.slice(server.url.length))
  }

  async function makeRefused(): Promise<readonly Refused[]> {
    const { db } = server.running.services
    const expire = (token: string) =>
      db.write((tx) => tx.run('update link set expires_at = 1 where token = ?', token))
    const none = 'ab'.repeat(10)
    const space = await sharedSpace(server)
    return [
      {
        name: 'unknown',
        paths: [`/f/${none}/`, `/d/${none}/`, `/u/d/${none}/`],
        status: 404,
        says: ['nowhereTitle', 'nowhere'],
      },
      {
        name: 'expired',
        paths: await pathsOf(await sharedSpace(server), {}, expire),
        status: 404,
        says: ['expiredTitle', 'expired'],
      },
      {
        name: 'disabled',
        paths: await pathsOf(space, {}, (token, at) =>
          space.client.put(`${at}${token}/`, { json: { is_active: false } }),
        ),
        status: 404,
        says: ['nowhereTitle', 'nowhere'],
      },
      {
        name: 'protected',
        paths: await pathsOf(await sharedSpace(server), { password: PASSWORD }, async () => {}),
        status: 200,
        says: ['passwordNeeded', 'passwordHint'],
      },
    ]
  }

  for (const [language, texts] of Object.entries(languages)) {
    it(`says why in ${language}, with a status for programs`, async () => {
      const headers = { 'Accept-Language': `${language}, fr;q=0.5` }
      const opening = `<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">`
      for (const { name, paths, status, says } of refused) {
        for (const at of paths) {
          const page = await server.anonymous.call('GET', at, { headers })
          assert.equal(page.status, status, `${name} ${at}`)
          assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
          for (const part of [opening, ...says.map((key) => texts[key])])
            assert.ok(page.text.includes(part), `${name} ${at}: ${part}`)
          if (name !== 'protected') continue
          const wrong = await server.anonymous.post(at, { form: { password: 'a guess of mine' }, headers })
          assert.equal(wrong.status, 403, at)
          for (const part of [opening, texts.wrongPassword, texts.passwordHint, 'type="password"'])
            assert.ok(wrong.text.includes(part), `${at}: ${part}`)
        }
      }
    })
  }

  it('looks like the product on desktop and phone, light and dark, in both directions', async (t) => {
    if (browser === undefined) return t.skip('chromium is not installed')
    let turn = 0
    for (const language of ['en', 'ar'] as const) {
      for (const { name: screen, ...options } of screens) {
        const context = await browser.newContext({ ...options, locale: language })
        const page = await context.newPage()
        // Each kind of link in turn: wrong passwords of one link are limited.
        turn += 1
        for (const { name, paths } of refused) {
          await page.goto(server.url + paths[turn % paths.length], { waitUntil: 'networkidle' })
          await assertFits(page, `${name}-${screen}-${language}`, language)
          if (name !== 'protected') continue
          await page.locator('input[type=password]').fill('a guess of mine')
          await page.getByRole('button').click()
          await page.getByRole('alert').waitFor()
          await assertFits(page, `wrong-${screen}-${language}`, language)
          // The form is still there, on the same page, and takes the right one.
          await page.locator('input[type=password]').fill(PASSWORD)
          await page.getByRole('button').click()
          await page
            .getByRole('heading', { name: /docs|a\.txt/ })
            .first()
            .waitFor()
        }
        await context.close()
      }
    }
  })

  async function assertFits(page: Page, name: string, language: Language): Promise<void> {
    if (takesPictures) {
      await mkdir(PICTURES, { recursive: true })
      await page.screenshot({ path: path.join(PICTURES, `link-${name}.png`) })
    }
    const { sideways, brand, font } = await page.evaluate<{ sideways: number; brand: string; font: string }>(
      `({
        sideways: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        brand: document.querySelector('header').textContent,
        font: getComputedStyle(document.querySelector('h1')).fontFamily,
      })`,
    )
    assert.equal(sideways, 0, name)
    assert.match(brand, /Carrel/)
    assert.match(font, /Carrel Newsreader/)
    assert.equal(await page.locator('html').getAttribute('lang'), language)
    assert.deepEqual(
      (await seriousViolations(page)).map(({ id }) => id),
      [],
      name,
    )
  }
})
