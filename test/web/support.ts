import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { after, before, type TestContext } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { seriousViolations } from '../support/accessibility.ts'
import { openBrowser } from '../support/browser.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer, type TestServerOptions } from '../support/server.ts'
import { isDeep } from '../support/tier.ts'
import { eventually } from '../support/transfer.ts'

/** Folder for screenshots of the pages, for manual review. */
const PICTURES = path.join(import.meta.dirname, '../../test-artifacts')
/** Nobody looks at those of a run of a whole tier, so it takes none. */
const takesPictures = process.env['CARREL_TEST_PICTURES'] !== '0'

export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const

/** A tab of the app, with the errors of its page. */
export interface Tab {
  readonly page: Page
  /** Errors of the page and its console, including those a test causes on purpose. */
  readonly complaints: string[]
  /** Opens a path of the app, relative to `app/`. */
  go(address: string): Promise<void>
  /** Saves a screenshot, unless a whole tier is run. */
  picture(name: string): Promise<void>
  /** Fails on serious or worse findings of axe; with `colors`, only on those that another theme can have. */
  checkAccess(rules?: 'all' | 'colors'): Promise<void>
}

/** The server and the browser of a suite. Call it inside `describe`. */
export function webSuite(options: TestServerOptions = {}) {
  let server: TestServer
  let browser: Browser | undefined
  before(async () => {
    server = await startServer(options)
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await server[Symbol.asyncDispose]()
  })

  /** A tab with separate storage, signed in as `client` if given; undefined if there is no browser. */
  async function openTab(
    t: TestContext,
    client?: Client,
    more: BrowserContextOptions = {},
  ): Promise<Tab | undefined> {
    if (browser === undefined) {
      t.skip('chromium is not installed')
      return undefined
    }
    const context = await browser.newContext({
      locale: 'en-GB',
      // Requests that a service worker answers are not seen by the routes of a test.
      serviceWorkers: 'block',
      viewport: { width: 1280, height: 800 },
      // Every frame of a transition is rendered by the CPU. The suites of the fast tier run with them.
      reducedMotion: isDeep ? 'reduce' : 'no-preference',
      ...more,
    })
    t.after(() => context.close())
    // Long enough for a busy machine.
    context.setDefaultTimeout(120_000)
    if (client?.token !== undefined) {
      const [state] = [{ name: 'carrel.token', value: client.token }]
      await context.addInitScript(({ name, value }) => {
        const { localStorage } = globalThis as unknown as {
          localStorage: Map<string, string> & {
            getItem(name: string): string | null
            setItem(name: string, value: string): void
          }
        }
        if (localStorage.getItem('carrel.test') !== null) return
        localStorage.setItem('carrel.test', 'signed in')
        localStorage.setItem(name, value)
      }, state)
    }
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('console', (message) => {
      const complaint = `${message.text()} ${message.location().url}`
      if (message.type() === 'error' && !isAboutNoPreview(complaint)) complaints.push(complaint)
    })
    return {
      page,
      complaints,
      async go(address) {
        await page.goto(`${server.url}/app${address}`)
        // The first text requests them. Nothing is measured in the font that is shown until then.
        await page.evaluate(
          `Promise.allSettled(['Inter', 'Newsreader'].map((name) => document.fonts.load('16px "Carrel ' + name + '"')))`,
        )
      },
      async picture(name) {
        if (!takesPictures) return
        await mkdir(PICTURES, { recursive: true })
        await page.screenshot({ path: path.join(PICTURES, `${name}.png`) })
      },
      async checkAccess(rules) {
        const serious = await seriousViolations(page, rules)
        assert.deepEqual(
          serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`),
          [],
        )
      },
    }
  }

  return {
    get server() {
      return server
    },
    openTab,
  }
}

/** Asserts that the settled page does not scroll sideways. */
export async function fitsWidth(page: Page): Promise<void> {
  await eventually(async () => {
    const places = (await page.evaluate(
      `[document.scrollingElement, document.getElementById('content')].map((one) => [one.scrollWidth, one.clientWidth])`,
    )) as [number, number][]
    for (const [width, room] of places) assert.ok(width <= room, `${width} pixels wide on ${room}`)
  })
}

/** The browser complains of a list's picture of a file that has none, or that was moved meanwhile. Its icon is shown instead. */
function isAboutNoPreview(complaint: string): boolean {
  return /status of 4(?:00|04|22) .*\/thumbnail\//.test(complaint)
}
