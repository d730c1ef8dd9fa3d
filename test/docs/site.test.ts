import assert from 'node:assert/strict'
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { buildSite } from '../../site/build.ts'
import { openBrowser } from '../support/browser.ts'

const ARTIFACTS = path.join(import.meta.dirname, '../../test-artifacts/site')
const PHONE = { width: 390, height: 844 }
const WIDE = { width: 1280, height: 900 }
const PAGES = [
  '',
  'quick-start.html',
  'concepts.html',
  'operation.html',
  'troubleshooting.html',
  'messages.html',
  'api/index.html',
  'api/files.html',
  'api/links.html',
]
const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}

describe('the documentation site', { timeout: 600_000 }, () => {
  let folder = ''
  let server: Server
  let url = ''

  before(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'carrel-site-'))
    await buildSite(folder)
    server = createServer((request, response) => {
      const name = new URL(request.url ?? '/', 'http://site').pathname.replace(/\/$/, '/index.html')
      const file = path.join(folder, decodeURIComponent(name))
      const type = TYPES[path.extname(file)] ?? 'application/octet-stream'
      if (existsSync(file)) response.writeHead(200, { 'Content-Type': type }).end(readFileSync(file))
      else response.writeHead(404).end()
    })
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  })
  after(async () => {
    await new Promise((resolve) => server.close(resolve))
    rmSync(folder, { recursive: true, force: true })
  })

  it('is built with all pages, their Markdown and a list for language models', () => {
    const pages = globSync('**/*.html', { cwd: folder })
    assert.ok(pages.length > 130, `${pages.length} pages`)
    assert.ok(existsSync(path.join(folder, 'openapi.json')))
    // Each page once, and once in the index of the search.
    const titles = pages.filter((page) => page.startsWith('public'))
    assert.deepEqual(titles, [])
    const [index = ''] = globSync('assets/**/*localSearchIndex*.js', { cwd: folder })
    const text = readFileSync(path.join(folder, index), 'utf8')
    assert.doesNotMatch(text, /"\/public\//)
    assert.ok(text.length < 2_000_000, `the index of the search has ${text.length} characters`)
    for (const page of PAGES) assert.ok(existsSync(path.join(folder, page || 'index.html')), page)
    const list = readFileSync(path.join(folder, 'llms.txt'), 'utf8')
    for (const [, file = ''] of list.matchAll(/\]\(\/([^)]+)\)/g)) {
      assert.ok(existsSync(path.join(folder, file)), file)
    }
  })

  it('shows its pages on a phone and on a wide screen, light and dark', async (t) => {
    const browser = await openBrowser()
    if (browser === undefined) return t.skip('there is no Chromium')
    mkdirSync(ARTIFACTS, { recursive: true })
    try {
      for (const [name, viewport] of Object.entries({ phone: PHONE, wide: WIDE })) {
        for (const colorScheme of ['light', 'dark'] as const) {
          const context = await browser.newContext({ viewport, colorScheme })
          const page = await context.newPage()
          const problems: string[] = []
          page.on('pageerror', (error) => problems.push(error.message))
          page.on('response', (response) => {
            if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`)
          })
          for (const file of PAGES) {
            await page.goto(url + file)
            const title = page.locator('h1').first()
            await title.waitFor()
            const width = await page.evaluate('document.documentElement.scrollWidth')
            assert.equal(width, viewport.width, `${file} is wider than ${name}`)
            const isDark = await page.evaluate("document.documentElement.classList.contains('dark')")
            assert.equal(isDark, colorScheme === 'dark')
            const look = await page.evaluate(
              `[getComputedStyle(document.body).fontFamily.split(',')[0], getComputedStyle(document.body).backgroundColor]`,
            )
            assert.deepEqual(look, ['"Carrel Inter"', isDark ? 'rgb(28, 32, 36)' : 'rgb(255, 254, 251)'])
            if (process.env['CARREL_TEST_PICTURES'] === '0') continue
            const shown = file.replace('.html', '').replaceAll('/', '-') || 'home'
            const picture = `${shown}-${name}-${colorScheme}.png`
            await page.screenshot({ path: path.join(ARTIFACTS, picture) })
          }
          assert.deepEqual(problems, [])
          await context.close()
        }
      }
    } finally {
      await browser.close()
    }
  })
})
